import assert from "node:assert/strict";
import { HELP, parseRelayArguments } from "./options.ts";
import { StartError } from "./start_error.ts";

Deno.test("parseRelayArguments() needs only a folder", () => {
  assert.deepEqual(parseRelayArguments(["--data", "/var/lib/relay"]), {
    data: "/var/lib/relay",
    listen: [{ hostname: "127.0.0.1", port: 8787 }],
    origins: [],
    invite_file: null,
    proxy_hops: 0,
    push_contact: null,
    limits: {},
    json: false,
  });
});

Deno.test("parseRelayArguments() reads every flag", () => {
  const args = "--data d --listen 127.0.0.1:0 --listen unix:/s --pwa-origin https://a.example " +
    "--pwa-origin http://localhost:4000 --invite-file i --proxy-hops 2 --push-contact mailto:me@custos.example --limit mailboxes_max=7 --json";
  assert.deepEqual(parseRelayArguments(args.split(" ")), {
    data: "d",
    listen: [{ hostname: "127.0.0.1", port: 0 }, { path: "/s" }],
    origins: ["https://a.example", "http://localhost:4000"],
    invite_file: "i",
    proxy_hops: 2,
    push_contact: "mailto:me@custos.example",
    limits: { mailboxes_max: 7 },
    json: true,
  });
});

Deno.test("parseRelayArguments() gives help instead of complaints", () => {
  assert.equal(parseRelayArguments(["--help"]), null);
  for (
    const flag of [
      "--data",
      "--listen",
      "--pwa-origin",
      "--invite-file",
      "--proxy-hops",
      "--limit",
      "--push-contact",
      "--json",
    ]
  ) {
    assert.ok(HELP.includes(`  ${flag} `), flag);
  }
});

const REFUSED: [string, RegExp][] = [
  ["", /--data DIR/],
  ["--data", /--help/],
  ["--data=", /--data DIR/],
  ["--data d extra", /--help/],
  ["--data d --unknown", /--help/],
  ["--data d --listen nowhere", /--listen takes/],
  ["--data d --pwa-origin https://a.example/", /--pwa-origin takes/],
  ["--data d --pwa-origin https://A.example", /--pwa-origin takes/],
  ["--data d --pwa-origin *", /--pwa-origin takes/],
  ["--data d --pwa-origin null", /--pwa-origin takes/],
  ["--data d --proxy-hops -1", /--proxy-hops/],
  ["--data d --proxy-hops one", /whole number/],
  ...[
    "mailto:x@localhost",
    "mailto:x@127.0.0.1",
    "mailto:localhost",
    "mailto:x@relay.localhost",
    "mailto:x y@custos.example",
    "x@custos.example",
    "http://custos.example",
    "https://localhost/",
    "https://192.168.0.1/",
    "javascript:alert(1)",
  ].map((
    contact,
  ): [string, RegExp] => [`--data d --push-contact=${contact.replace(" ", "%20")}`, /--push-contact takes/]),
  ["--data d --limit mailboxes=7", /no limit mailboxes/],
  ["--data d --limit toString=7", /no limit toString/],
  ["--data d --limit mailboxes_max", /whole number/],
  ["--data d --limit mailboxes_max=0", /at least 1/],
];
for (const [args, reason] of REFUSED) {
  Deno.test(`parseRelayArguments() refuses "${args}" and says what to do`, () => {
    assert.throws(
      () => parseRelayArguments(args === "" ? [] : args.split(" ")),
      (error) => error instanceof StartError && error.exitCode === 2 && reason.test(error.message),
    );
  });
}
