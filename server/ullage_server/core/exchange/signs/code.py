"""Source code, in any language."""

import re

from ..look import Look, count

#: Lines that open as statements, declarations or comments do.
_OPENS = re.compile(
    r"\n[ \t]*+(?:@\w|#!|\$\(|#include\b|#(?:define|ifn?def|endif|pragma|region)\b|//|/\*|\*(?:/| |$)|\"\"\"|'{3}"
    r"|<\?php|--(?: |$)|;;|\(++[\w'*+/<=-]"
    r"|(?:(?:export|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]{1,9}\))?|unsafe"
    r"|override|open|sealed|virtual|inline|extern|default) ){0,4}+"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait|impl|type|module|namespace|package|import|from|use"
    r"|using|const|let|var|val|return|if|elif|else|elsif|for|foreach|while|do|switch|case|match|try|except|catch"
    r"|finally|with|raise|throw|yield|await|assert|print|end|begin|local|require|include|void|int|char|bool|float"
    r"|double|long|string|message|service|rpc|syntax|option|optional|repeated|resource|variable|output|provider"
    r"|data|locals|param|SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|JOIN|FROM|WHERE|RUN|COPY|ENV|ARG"
    r"|WORKDIR|ENTRYPOINT|CMD|EXPOSE|echo|export|fi|done|esac|then|set|self|this|new|pass|break|continue|guard"
    r"|mut)\b(?!:)"
    r"|[)\]}]{1,4}+[;,]?[ \t]*+(?:$|else|catch|from|\)|=>|//)"
    r"|[\w.$:@\[\]\"'>-]++(?:[ \t]*+(?:[:+?|-]?=|=>|->)[ \t]*+\S|(?<=[\w.$:])\([^)\n]*+\)[ \t]*+(?:[;{.,]|:?$))"
    r")[^\n]*+",
    re.MULTILINE,
)
#: Or end as they do.
_ENDS = re.compile(r"\n[^\n]*+(?:(?<=[;{}(\[,\\])|(?<=\):)|(?<=\) :)|(?<==>|&&|\|\|))")
#: How a program alone begins: with its interpreter, or with a comment that is closed further down.
_FIRST = ("\n#!/", "\n/*", "\n<#", "\n--[[")
#: Comments say nothing of the language around them.
_COMMENT = re.compile(r"\n[ \t]*+#(?![!\[]|include\b|define\b|if|endif|pragma)[^\n]*+")
_MARK = r"\n[ \t]*+(?:#(?![!\[]|include\b|define\b|if|endif|pragma)|//|;;|-- |dnl |\" (?![^\n]*\"))"
#: A line that opens with a mark of a comment, above another one: headings stand alone.
_REMARK = re.compile(rf"{_MARK}[^\n]*+(?={_MARK})")
#: Shares of lines that are enough together: with any sign, with a sure one, stepped in.
_SHARES = ((0.75, 0.04, 0.3), (0.5, 0.12, 0.0), (0.3, 0.2, 0.4))
#: What only a program has: how its lines open.
_HARD_OPENS = re.compile(
    r"\n(?:\t++\S|[\w.]++[ \t]*+[?:]="
    r"|[ \t]*+(?:\}|#(?:include|define|ifn?def|if|elif|else|endif|pragma|undef)\b"
    r"|\(++[a-z][\w*!?-]{0,40}+ [^\n]{0,200}+(?<=[()])$"
    r"|(?:SELECT|FROM|WHERE|JOIN|INSERT INTO|CREATE (?:TABLE|VIEW|INDEX|FUNCTION)|REVOKE|GRANT)\b"
    r"|(?:def|class|fn|func|import|from|return|if|for|while|const|let|var)\b[^\n]{0,121}+$"
    r"|[A-Za-z_]\w*+(?:=(?:['\"$]|\S*+$)| = [\w.]*+(?:(?<=\.\w)|[(\[{])|\([\w\"'$][^\n]{0,200}+(?<=\))$)"
    r"))[^\n]*+",
    re.MULTILINE,
)
#: And what stands in them, or ends them.
_HARD = re.compile(
    r"(?:;$|\{$|//(?:(?<=\S //)|(?<=\S  //)|(?<=\t//)) |=>|->|::|==|!=|&&|\|\||\((?<=\w\()(?:\)|\w{1,40}+[,)=])"
    r"|\[(?<=\w\[)\w{1,40}+\]|\$\(|\$\{|:=|\)\)$"
    r")[^\n]*+",
    re.MULTILINE,
)


def is_code(seen: Look, text: bytes) -> bool:
    """Whether most lines open or end as those of a program do, and some have what only a program has.

    A first line that names its interpreter or opens a comment, or comments line upon line, say it by themselves.
    """
    return is_program(seen.told)


def is_program(told: str) -> bool:
    """Whether the lines of `told`, none of them blank, are those of a program."""
    if told.startswith(_FIRST) or count(_REMARK, told) > told.count("\n") * 0.25:
        return True
    told = _COMMENT.sub("", told)
    lines = told.count("\n")
    if lines < 2:
        return lines == 1 and bool(_OPENS.match(told) and (_HARD_OPENS.match(told) or _HARD.search(told)))
    stepped = told.count("\n ") + told.count("\n\t")
    # Each sign is looked for in what the ones before it left.
    rest, hard_opens = _HARD_OPENS.subn("", told)
    hard = hard_opens + count(_HARD, rest)
    if _is_enough(hard, hard, stepped, lines):
        return True
    if not _is_enough(lines, hard, stepped, lines):
        return False
    rest, opens = _OPENS.subn("", rest)
    rest, ends = _ENDS.subn("", rest)
    return _is_enough(hard_opens + opens + ends + count(_HARD, rest), hard, stepped, lines)


def _is_enough(signs: int, hard: int, stepped: int, lines: int) -> bool:
    return any(
        signs >= lines * most and hard >= lines * some and stepped >= lines * inner
        for most, some, inner in _SHARES
    )


def is_statement(page: str, start: int, end: int) -> bool:
    """Whether the line of `page` from the line feed at `start` to `end` says by itself that it is of a program."""
    return bool(
        _HARD_OPENS.match(page, start, end) or _OPENS.match(page, start, end) or _HARD.search(page, start, end)
    )
