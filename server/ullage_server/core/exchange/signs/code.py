"""Source code, in any language."""

import re
from itertools import pairwise

from ..look import Look

#: Lines that open as statements, declarations or comments do.
_OPENS = re.compile(
    r"\s*+(?:@\w|#!|\$\(|#include\b|#(?:define|ifn?def|endif|pragma|region)\b|//|/\*|\*(?:/| |$)|\"\"\"|'{3}"
    r"|<\?php|--(?: |$)|;;|\(+[\w'*+/<=-]"
    r"|(?:(?:export|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]{1,9}\))?|unsafe"
    r"|override|open|sealed|virtual|inline|extern|default) ){0,4}"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait|impl|type|module|namespace|package|import|from|use"
    r"|using|const|let|var|val|return|if|elif|else|elsif|for|foreach|while|do|switch|case|match|try|except|catch"
    r"|finally|with|raise|throw|yield|await|assert|print|end|begin|local|require|include|void|int|char|bool|float"
    r"|double|long|string|message|service|rpc|syntax|option|optional|repeated|resource|variable|output|provider"
    r"|data|locals|param|SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|JOIN|FROM|WHERE|RUN|COPY|ENV|ARG"
    r"|WORKDIR|ENTRYPOINT|CMD|EXPOSE|echo|export|fi|done|esac|then|set|self|this|new|pass|break|continue|guard"
    r"|mut)\b(?!:)"
    r"|[\w.$@\[\]\"'>-]{1,80}\s*(?:=|:=|\+=|-=|=>|->|\?=|\|=)\s*\S"
    r"|[\w.$:]{1,80}\([^)]{0,200}\)\s*(?:[;{.,]|:?$)"
    r"|[)\]}]{1,4}[;,]?\s*(?:$|else|catch|from|\)|=>|//))"
)
#: Or end as they do.
_ENDS = re.compile(r"(?:[;{}]|\)\s?:|=>|\(|\[|,|\\|&&|\|\|)\s*$")
#: Comments say nothing of the language around them.
_COMMENT = re.compile(r"\s*+#(?![!\[]|include\b|define\b|if|endif|pragma)")
_REMARK = re.compile(_COMMENT.pattern + r"|\s*+(?://|;;|-- )|\" (?!.*\")")
#: Shares of lines that are enough together: with any sign, with a sure one, stepped in.
_SHARES = ((0.75, 0.04, 0.3), (0.5, 0.12, 0.0), (0.3, 0.2, 0.4))
#: What only a program has.
_HARD = re.compile(
    r";\s*$|\{\s*$|\S\s+// |^[\w.]{1,60}\s*[?:]=|^\s*+\}|=>|->|::|==|!=|&&|\|\||\w\(\)|\w\[\w{1,40}\]|^\t+\S"
    r"|\$\(|\$\{|:=|\w\(\w{1,40}[,)=]|^\s*+#(?:include|define|ifn?def|if|elif|else|endif|pragma|undef)\b"
    r"|^[ \t]*\(+[a-z][\w*!?-]{0,40} .{0,200}[()]$|\)\)$|^\s*+\w{3,60}\([\w\"'$].{0,200}\)$"
    r"|^\s*+[A-Za-z_]\w{0,60} = [\w.]{0,60}(?:\.\w|[(\[{])"
    r"|^\s*+[A-Za-z_]\w{0,60}=(?:['\"$]|\S*$)"
    r"|\b(?:SELECT|FROM|WHERE|JOIN|INSERT INTO|CREATE (?:TABLE|VIEW|INDEX|FUNCTION)|REVOKE|GRANT)\b"
    r"|^\s*+(?:def|class|fn|func|import|from|return|if|for|while|const|let|var)\b.{0,120}[:;{(]?$"
)


def is_code(seen: Look, text: bytes) -> bool:
    """Whether most lines open or end as those of a program do, and some have what only a program has.

    A first line that names its interpreter or opens a comment, or comments line upon line, say it by themselves.
    """
    if not seen.lines:
        return False
    if seen.lines[0].startswith(("#!/", "/*")) or _comments(seen.lines) > len(seen.lines) * 0.25:
        return True
    lines = [line for line in seen.lines if not _COMMENT.match(line)]
    if len(lines) < 2:
        return len(lines) == 1 and bool(_HARD.search(lines[0]) and _OPENS.match(lines[0]))
    hard = [bool(_HARD.search(line)) for line in lines]
    soft = [bool(_OPENS.match(line) or _ENDS.search(line)) for line in lines]
    signs = sum(map(max, hard, soft))
    stepped = sum(line[0] in " \t" for line in lines)
    return any(
        signs >= len(lines) * most and sum(hard) >= len(lines) * some and stepped >= len(lines) * inner
        for most, some, inner in _SHARES
    )


def _comments(lines: list[str]) -> int:
    """How many lines open with a mark of a comment, as does the one before them: headings stand alone."""
    return sum(bool(_REMARK.match(above) and _REMARK.match(line)) for above, line in pairwise(lines))


def is_statement(line: str) -> bool:
    """Whether a line says by itself that it is of a program."""
    return bool(_HARD.search(line) or _OPENS.match(line))
