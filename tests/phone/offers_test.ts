import assert from "node:assert/strict";
import { CustosError } from "@custos/core/errors";
import { covers, type Grant } from "@custos/core/grant";
import { contentHash } from "@custos/core/content";
import type { Policy } from "@custos/core/policy";
import type { RequestOf } from "@custos/core/request";
import {
  defaultOffer,
  type GrantCard,
  grantFor,
  narrowable,
  type Offer,
  offersFor,
  showOffer,
  verifyCard,
} from "@custos/pwa";
import { accessCard, holdSecret, httpCard } from "./scripted_cards.ts";
import { type Ends, knowSecret, withPair } from "./scripted_pair.ts";

type Wanted = Partial<RequestOf<"access">["wanted"]>;

async function cardOf(ends: Ends, kind: "http" | "access", policy: Partial<Policy>, wanted: Wanted = {}) {
  const secret = await holdSecret(ends.daemon, policy);
  await knowSecret(ends, secret);
  const message = kind === "http"
    ? await httpCard(ends.daemon, secret)
    : await accessCard(ends.daemon, secret, wanted);
  const verdict = await verifyCard(await ends.phone.record(), message);
  assert.ok(verdict.ok && verdict.card.type !== "drop");
  return verdict.card as GrantCard;
}

const limits = (max_seconds: number) => ({
  limits: { max_seconds, max_body_bytes: 0, private_network: false },
});

Deno.test("grantFor() gives for an http card exactly what its offer says", async () => {
  await withPair(async (ends) => {
    const card = await cardOf(ends, "http", limits(600));
    assert.ok(card.type === "http");
    assert.deepEqual(defaultOffer(card), { kind: "once" });
    assert.equal(offersFor(card)[0]?.offer.kind, "once");
    const { headers, body_sha256, url } = card.doc.http;
    const content_sha256 = await contentHash({ method: "GET", url, headers, body_sha256 });
    const scope = { origins: ["https://api.example.test"], methods: ["GET"], path: "/v1/things" };
    const rows: [Offer, Partial<Grant>][] = [
      [{ kind: "once" }, { scope: { ...scope, content_sha256 }, seconds: 600, max_uses: 1 }],
      [{ kind: "path" }, { scope, seconds: 600, max_uses: 100 }],
      [{ kind: "minutes", minutes: 2 }, { scope, seconds: 120, max_uses: 1_000_000 }],
    ];
    const use = {
      agent: "tester",
      origin: "https://api.example.test",
      method: "GET",
      path: "/v1/things",
      content_sha256,
    };
    for (const [offer, expected] of rows) {
      const grant = await grantFor(card, offer);
      const { scope, seconds, max_uses } = grant;
      assert.deepEqual({ scope, seconds, max_uses }, expected, offer.kind);
      assert.equal(covers(grant, use), true, offer.kind);
      assert.equal(covers(grant, { ...use, path: "/v1/things/1" }), false, offer.kind);
      assert.equal(covers(grant, { ...use, agent: "another" }), false, offer.kind);
      assert.equal(covers(grant, { ...use, content_sha256: "other" }), offer.kind !== "once", offer.kind);
    }
  });
});

Deno.test("grantFor() gives for an access card what was asked within the policy", async () => {
  await withPair(async (ends) => {
    const policy: Partial<Policy> = {
      name: "two",
      rules: [
        { methods: ["GET"], path_prefix: "/read/" },
        { methods: ["GET", "POST"], path_prefix: "/write/" },
      ],
      ...limits(1_800),
    };
    const rows: [Wanted, Offer, unknown][] = [
      [{}, { kind: "wanted" }, [["GET"], "/read/", 900, 1_000_000]],
      [{ methods: ["POST"] }, { kind: "wanted" }, [["POST"], "/write/", 900, 1_000_000]],
      [{ path_prefix: "/write/a/" }, { kind: "wanted" }, [["GET", "POST"], "/write/a/", 900, 1_000_000]],
      [{ seconds: 60, uses: 3 }, { kind: "wanted" }, [["GET"], "/read/", 60, 3]],
      [{ seconds: 86_400 }, { kind: "wanted" }, [["GET"], "/read/", 1_800, 1_000_000]],
      [{ uses: 3 }, { kind: "minutes", minutes: 30 }, [["GET"], "/read/", 1_800, 3]],
      [{ uses: 3 }, { kind: "once" }, [["GET"], "/read/", 600, 1]],
      [
        { path_prefix: "/write/", uses: 3, seconds: 600 },
        { kind: "narrow", methods: ["GET"], path_prefix: "/write/a/", minutes: 10 },
        [["GET"], "/write/a/", 600, 3],
      ],
    ];
    for (const [wanted, offer, expected] of rows) {
      const card = await cardOf(ends, "access", policy, wanted);
      const { scope, seconds, max_uses } = await grantFor(card, offer);
      assert.deepEqual(
        [scope.methods, scope.path_prefix, seconds, max_uses],
        expected,
        JSON.stringify(wanted),
      );
    }
  });
});

function narrow(change: Partial<Extract<Offer, { kind: "narrow" }>>): Offer {
  return { kind: "narrow", methods: ["GET"], path_prefix: "/v1/", minutes: 1, ...change };
}

Deno.test("narrowable() offers all that was asked in whole minutes, and the label says all of an offer", async () => {
  await withPair(async (ends) => {
    const rows: [Wanted, unknown, string | null][] = [
      [
        { uses: 3 },
        { kind: "narrow", methods: ["GET", "POST"], path_prefix: "/v1/", minutes: 10 },
        "GET, POST under /v1/, 10 min, at most 3 times",
      ],
      [{ seconds: 90, methods: ["GET"] }, {
        kind: "narrow",
        methods: ["GET"],
        path_prefix: "/v1/",
        minutes: 1,
      }, "GET under /v1/, 1 min, as often as it asks"],
      [{ seconds: 59 }, null, null],
    ];
    for (const [wanted, offer, label] of rows) {
      const card = await cardOf(ends, "access", limits(600), wanted);
      const found = card.type === "access" ? narrowable(card) : null;
      assert.deepEqual(found, offer);
      assert.equal(found === null ? null : showOffer(card, found).label, label);
    }
  });
});

Deno.test("grantFor() refuses what is wider than the policy, or not for this card", async () => {
  await withPair(async (ends) => {
    const http = await cardOf(ends, "http", limits(600));
    const access = (wanted: Wanted) => cardOf(ends, "access", { name: "a", ...limits(600) }, wanted);
    const rows: [string, GrantCard, Offer][] = [
      ["more minutes than the policy allows", http, { kind: "minutes", minutes: 11 }],
      ["no minutes", http, { kind: "minutes", minutes: 0 }],
      ["half a minute", http, { kind: "minutes", minutes: 0.5 }],
      ["what was wanted, for one request", http, { kind: "wanted" }],
      ["a part of one request", http, narrow({})],
      [
        "a part with a method that was not asked for",
        await access({ methods: ["GET"] }),
        narrow({ methods: ["POST"] }),
      ],
      ["a part without a method", await access({}), narrow({ methods: [] })],
      ["a part beside the path that was asked for", await access({}), narrow({ path_prefix: "/v10/" })],
      ["a part without a path", await access({}), narrow({ path_prefix: "" })],
      ["a part that lasts longer than was asked", await access({ seconds: 60 }), narrow({ minutes: 2 })],
      ["a path, for an access request", await access({}), { kind: "path" }],
      ["a method outside the policy", await access({ methods: ["DELETE"] }), { kind: "wanted" }],
      ["one method of two outside the policy", await access({ methods: ["GET", "PUT"] }), { kind: "wanted" }],
      ["a prefix outside the policy", await access({ path_prefix: "/v2/" }), { kind: "wanted" }],
      ["a prefix above the policy's", await access({ path_prefix: "/" }), { kind: "once" }],
    ];
    for (const [name, card, offer] of rows) {
      await assert.rejects(
        () => grantFor(card, offer),
        (error) => error instanceof CustosError && error.kind === "bad_request",
        name,
      );
    }
  });
});
