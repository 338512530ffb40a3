// A service with OpenTelemetry's JavaScript SDK: for each line of JSON headers, those that it sends on.
const { ROOT_CONTEXT, defaultTextMapGetter, defaultTextMapSetter, diag } = require("@opentelemetry/api");
const { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } = require("@opentelemetry/core");
const { JaegerPropagator } = require("@opentelemetry/propagator-jaeger");
const { OTTracePropagator } = require("@opentelemetry/propagator-ot-trace");

diag.disable();
// Each way to be set up reads all that it can, and writes all that it knows.
const w3c = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
const services = [
  new CompositePropagator({ propagators: w3c }),
  new CompositePropagator({ propagators: [new OTTracePropagator(), new JaegerPropagator(), ...w3c] }),
];

require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const headers = JSON.parse(line);
  const sent = services.map((propagator) => {
    const handedOn = {};
    propagator.inject(propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter), handedOn, defaultTextMapSetter);
    return handedOn;
  });
  process.stdout.write(JSON.stringify(sent) + "\n");
});
