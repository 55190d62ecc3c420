import assert from "node:assert/strict";
import type { HttpWanted } from "@custos/core/request";
import { cardChanges } from "./card_changes.ts";

function request(change: Partial<HttpWanted> = {}, body = '{"title":"a","tags":[1]}'): HttpWanted {
  return {
    method: "POST",
    url: "https://api.github.com/repos/a/issues?page=1",
    headers: [["accept", "application/json"]],
    body_sha256: body,
    body_bytes: new TextEncoder().encode(body).length,
    body_preview: body,
    ...change,
  };
}

Deno.test("cardChanges() names every place that differs, and none that does not", () => {
  const before = request();
  const rows: [string, HttpWanted, string[]][] = [
    ["the same", request(), []],
    ["another value in the query", request({ url: `${before.url}2` }), ["query page"]],
    ["a member of the query that is new", request({ url: `${before.url}&x=1` }), ["query x"]],
    ["the same member twice", request({ url: `${before.url}&page=1` }), ["query page"]],
    ["the query in another spelling", request({ url: before.url.replace("page", "%70age") }), ["query "]],
    ["another header", request({ headers: [["accept", "text/html"]] }), ["header accept"]],
    ["a header that is gone", request({ headers: [] }), ["header accept"]],
    ["another title", request({}, '{"title":"b","tags":[1]}'), ["body title"]],
    ["another tag, and a key more", request({}, '{"title":"a","tags":[2],"x":0}'), ["body tags", "body x"]],
    ["another order of the same", request({}, '{"tags":[1],"title":"a"}'), ["body "]],
    ["a body that is no object", request({}, "[1]"), ["body "]],
    ["a body that is not in the card whole", request({ body_bytes: 5_000, body_sha256: "x" }), ["body "]],
    ["a body that is not text", request({ body_preview: null, body_sha256: "x" }), ["body "]],
    [
      "all three",
      request({ url: `${before.url}3`, headers: [["accept", "a"]] }, '{"title":"c","tags":[1]}'),
      ["query page", "header accept", "body title"],
    ],
  ];
  for (const [name, now, changes] of rows) {
    assert.deepEqual(cardChanges(before, now).map((one) => `${one.place} ${one.name}`), changes, name);
  }
});
