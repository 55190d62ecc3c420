import assert from "node:assert/strict";
import { RequestStore } from "./request_store.ts";
import { httpDoc, newRequest } from "./testdata/requests.ts";
import { withState } from "./testdata/state.ts";
import { Waits } from "./waits.ts";

Deno.test("RequestStore.end() lets exactly one end count", () =>
  withState(async ({ db }) => {
    const requests = new RequestStore(db);
    const row = await newRequest();
    requests.insert(row);
    assert.equal(requests.end(row.doc.id, "denied", null, "phone A"), true);
    assert.equal(requests.end(row.doc.id, "granted", null, "phone B"), false);
    const { status, decided_by } = requests.byId(row.doc.id)!;
    assert.deepEqual({ status, decided_by }, { status: "denied", decided_by: "phone A" });
  }));

Deno.test("RequestStore.pendingLike() finds a pending request and never an answered one", () =>
  withState(async ({ db }) => {
    const requests = new RequestStore(db);
    const row = await newRequest();
    requests.insert(row);
    assert.equal(requests.pendingLike(row.coalesce_key)?.id, row.doc.id);
    assert.equal(requests.pendingLike("another"), undefined);
    requests.end(row.doc.id, "granted", null, null);
    assert.equal(requests.pendingLike(row.coalesce_key), undefined);
  }));

Deno.test("RequestStore.overdue() goes by the clock it is given", () =>
  withState(async ({ db }) => {
    const requests = new RequestStore(db);
    const row = await newRequest(httpDoc({ created_ms: 1_000, expires_ms: 2_000 }));
    requests.insert(row);
    assert.deepEqual(requests.overdue(1_999), []);
    assert.equal(requests.overdue(2_000)[0]?.id, row.doc.id);
  }));

Deno.test("Waits.until() ends with the request, with its time, or with its caller, and leaves the request alone", () =>
  withState(async ({ db }) => {
    const requests = new RequestStore(db);
    const waits = new Waits(requests);
    const row = await newRequest();
    requests.insert(row);
    const { id } = row.doc;
    const none = new AbortController().signal;
    assert.equal((await waits.until(id, 0, none)).status, "pending");
    assert.equal((await waits.until(id, 5, none)).status, "pending");
    const leaving = new AbortController();
    const left = waits.until(id, 60_000, leaving.signal);
    assert.equal(waits.count(id), 1);
    leaving.abort();
    assert.equal((await left).status, "pending");
    assert.equal(waits.count(id), 0);
    const waiting = waits.until(id, 60_000, none);
    requests.end(id, "granted", null, null);
    requests.announce(id);
    assert.equal((await waiting).status, "granted");
    assert.equal(waits.count(id), 0);
  }));
