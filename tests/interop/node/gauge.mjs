// Drives the gauge from Node with the proto files alone, and prints what came of it as JSON.
//
//   node gauge.mjs TARGET PROTO_FOLDER
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

const [target, protos] = process.argv.slice(2);
const options = { includeDirs: [protos], keepCase: true, longs: Number, enums: String, defaults: true, oneofs: true };
const load = (file) => grpc.loadPackageDefinition(loader.loadSync(`ullage/v1/${file}`, options)).ullage.v1;
const credentials = grpc.credentials.createInsecure();
const runs = new (load("run_service.proto").RunService)(target, credentials);
const buildings = new (load("building_service.proto").BuildingService)(target, credentials);

const call = (client, method, request) =>
  new Promise((resolve, reject) =>
    client[method](request, { deadline: Date.now() + 20_000 }, (error, answer) => (error ? reject(error) : resolve(answer))),
  );

// The details of an error are a google.rpc.Status in the trailing metadata; its code and message are the call's own.
const refusal = async (client, method, request) => {
  try {
    return { answered: await call(client, method, request) };
  } catch (error) {
    const details = error.metadata.get("grpc-status-details-bin")[0];
    return { code: error.code, message: error.details, details: details.toString("latin1") };
  }
};

const configured = await call(buildings, "ConfigureBuilding", {
  command: { address: "node", context_second_threshold: 50 },
  request_id: "from-node-1",
});
const started = await call(runs, "StartRun", { run_id: "from-node", plan: { address: "node", context_tokens: 200_000 } });
const observed = [];
for (const [turn, input_tokens] of [[1, 59_999], [2, 60_000], [3, 100_000], [4, 9_007_199_254_740_991]]) {
  observed.push(await call(runs, "ObserveUsage", { run_id: "from-node", report: { turn, usage: { input_tokens } } }));
}
const again = await call(runs, "ObserveUsage", {
  run_id: "from-node",
  report: { turn: 2, usage: { input_tokens: 60_000 } },
});
const got = await call(runs, "GetRun", { run_id: "from-node" });
const refused = await refusal(buildings, "ConfigureBuilding", { command: { address: "node", context_second_threshold: 91 } });
const unknown = await refusal(runs, "GetRun", { run_id: "nobody-started-this" });
console.log(JSON.stringify({ configured, started, observed, again, got, refused, unknown }));
runs.close();
buildings.close();
