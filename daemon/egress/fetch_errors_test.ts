import assert from "node:assert/strict";
import { parseTarget } from "@custos/core/target";
import { brokenBody, classifyFetchError, timedOut } from "./fetch_errors.ts";

const NAMED = parseTarget("POST", "https://api.example.test/v1/x");
const INSIDE = parseTarget("GET", "http://10.0.0.5:8080/v1/x");

/** An error as the runtime makes it: name, text, text of the cause. */
function failed(name: string, message: string, cause?: string): Error {
  const error = new TypeError(message, cause === undefined ? {} : { cause: new Error(cause) });
  error.name = name;
  return error;
}

const SENT =
  "error sending request from 127.0.0.1:4000 for https://api.example.test/v1/x?key=tok_live (10.0.0.5:443): ";
const UNSENT = "error sending request for url (https://api.example.test/v1/x?key=tok_live): ";

Deno.test("classifyFetchError() knows the texts of Deno 2.9.6, and takes all others as outcome_unknown (B13, B70)", () => {
  const rows: [Error, string, string, boolean][] = [
    [
      failed("TypeError", "fetch failed", `${UNSENT}client error (Connect): dns error: failed`),
      "upstream_unreachable",
      "resolve",
      true,
    ],
    [
      failed(
        "TypeError",
        "fetch failed",
        `${UNSENT}client error (Connect): tcp connect error: Connection refused (os error 111)`,
      ),
      "upstream_unreachable",
      "refused",
      true,
    ],
    [
      failed(
        "TypeError",
        "fetch failed",
        `${UNSENT}client error (Connect): invalid peer certificate: UnknownIssuer`,
      ),
      "upstream_unreachable",
      "certificate",
      true,
    ],
    [
      failed(
        "TypeError",
        "fetch failed",
        `${UNSENT}client error (Connect): received corrupt message of type InvalidContentType`,
      ),
      "upstream_unreachable",
      "TLS",
      true,
    ],
    [
      failed("TypeError", "fetch failed", `${UNSENT}client error (Connect): something new`),
      "upstream_unreachable",
      "failed",
      true,
    ],
    [
      failed(
        "TypeError",
        "fetch failed",
        `${UNSENT}client error (Connect): Requires net access to "10.0.0.5:443", run again with the --allow-net flag`,
      ),
      "private_address",
      "may not reach",
      true,
    ],
    [
      failed("NotCapable", 'Requires net access to "api.example.test:443"'),
      "host_not_allowed",
      "sandbox",
      true,
    ],
    [failed("TypeError", "Fetch failed: Requests to port 9 are blocked"), "host_not_allowed", "port", true],
    [failed("TypeError", 'Invalid header value: "tok_live"'), "header_not_allowed", "header", true],
    [
      failed(
        "TypeError",
        "fetch failed",
        `${SENT}client error (SendRequest): connection closed before message completed`,
      ),
      "outcome_unknown",
      "look before",
      false,
    ],
    [
      failed("TypeError", "fetch failed", `${SENT}client error (SendRequest): message head is too large`),
      "outcome_unknown",
      "100 headers",
      false,
    ],
    [
      failed("TypeError", "fetch failed", "a text of the next version about tok_live"),
      "outcome_unknown",
      "look before",
      false,
    ],
    [failed("Error", ""), "outcome_unknown", "look before", false],
  ];
  for (const [error, kind, text, never] of rows) {
    const said = classifyFetchError(error, NAMED);
    assert.equal(said.kind, kind, error.message);
    assert(said.message.includes(text), said.message);
    assert.equal(said.message.includes("Nothing was sent"), never, said.message);
    assert(!said.message.includes("tok_live"));
  }
  assert.equal(
    classifyFetchError(failed("NotCapable", 'Requires net access to "10.0.0.5:8080"'), INSIDE).kind,
    "private_address",
  );
  assert.equal(classifyFetchError("not an error", NAMED).kind, "outcome_unknown");
});

Deno.test("timedOut() and brokenBody() say what may have happened by method (B77, B82, B167)", () => {
  assert.equal(timedOut(INSIDE, 100, "headers").kind, "upstream_timeout");
  assert.equal(timedOut(NAMED, 100, "total").kind, "outcome_unknown");
  assert.match(timedOut(NAMED, 100, "total").message, /100 ms.*POST may have been carried out/);
  assert.equal(brokenBody(NAMED, 5).kind, "outcome_unknown");
  assert.match(brokenBody(INSIDE, 5).message, /after 5 bytes.*incomplete/);
});
