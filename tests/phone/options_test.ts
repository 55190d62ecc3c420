import assert from "node:assert/strict";
import type { CustosError } from "@custos/core/errors";
import { dropFields, readOptions } from "./options.ts";
import { cardText, jsonLine, type ShownCard } from "./shown_card.ts";

const read = (text: string) =>
  readOptions([...text.split(" ").filter((word) => word !== ""), "--state", "/s"]);

Deno.test("readOptions() reads commands and offers", () => {
  assert.equal(read("pair https://phone.example.test/#p=x").link, "https://phone.example.test/#p=x");
  assert.equal(read("watch --json").json, true);
  assert.equal(read("approve --request abc").request, "abc");
  assert.equal(read("approve").offer, null);
  assert.deepEqual(read("approve --once").offer, { kind: "once" });
  assert.deepEqual(read("approve --path").offer, { kind: "path" });
  assert.deepEqual(read("approve --minutes 20").offer, { kind: "minutes", minutes: 20 });
  assert.equal(readOptions([]).command, "help");
});

Deno.test("dropFields() makes a policy's fields of the options, with narrow defaults", () => {
  const plain = dropFields(read("drop --origin https://api.github.com --value-stdin").drop, "github");
  assert.deepEqual(plain, {
    name: "github",
    origins: ["https://api.github.com"],
    placement: { kind: "bearer" },
    rules: [{ methods: ["GET", "POST"], path_prefix: "/" }],
    max_seconds: 3_600,
    private_network: false,
  });
  const full = dropFields(
    read(
      "drop --name own --origin http://127.0.0.1:9000 --header x-key --template k={secret} --method get --method PUT" +
        " --path /v1/ --max-seconds 60 --grant-minutes 1 --value-stdin",
    ).drop,
    "github",
  );
  assert.deepEqual(full, {
    name: "own",
    origins: ["http://127.0.0.1:9000"],
    placement: { kind: "header", name: "x-key", template: "k={secret}" },
    rules: [{ methods: ["GET", "PUT"], path_prefix: "/v1/" }],
    max_seconds: 60,
    private_network: true,
    first_grant_seconds: 60,
  });
});

Deno.test("readOptions() refuses what it cannot mean", () => {
  const rows = [
    "fly",
    "pair",
    "watch now",
    "approve --once --minutes 5",
    "approve --once --path",
    "approve --minutes 0",
    "approve --minutes five",
    "approve --value secret",
    "drop --header a --query b --origin https://a.test",
    "drop --template {secret} --origin https://a.test",
    "drop --max-seconds -1",
    "cards --request",
  ];
  for (const row of rows) {
    assert.throws(() => read(row), (error) => (error as CustosError).kind === "bad_request", row);
  }
  assert.throws(() => readOptions(["watch"]), (error) => (error as CustosError).kind === "bad_request");
  const { drop } = read("drop --value-stdin");
  assert.throws(() => dropFields(drop, "github"), (error) => (error as CustosError).kind === "bad_request");
});

const SHOWN: ShownCard = {
  request_id: "a",
  fingerprint: "one two three",
  type: "http",
  status: "pending",
  agent: "x\u001b[2J",
  reason: "ok\u202e\u009b31m\nHost: bank",
  handle: "custos:demo",
  name: null,
  method: "GET",
  url: "https://a.test/\u200b",
  expires_ms: 1,
  refused: null,
  by: null,
  why: null,
};

Deno.test("jsonLine() and cardText() let no control, bidi or invisible character of an agent through (B103, B104)", () => {
  const line = jsonLine(SHOWN);
  assert.match(line, /^[\x20-\x7e]+$/);
  assert.deepEqual(JSON.parse(line), SHOWN);
  const text = cardText(SHOWN);
  assert.match(text, /^[\x20-\x7e\n]+$/);
  assert.equal(text.split("\n").length, 6); // a line break in a reason makes no line of its own (B106)
});
