import assert from "node:assert/strict";
import { toBase64url } from "@custos/core/bytes";
import { bytesOf, enrolled, named, prf, random, rp_id } from "./authenticator_fixture.ts";
import type { CreationOptions } from "./authenticator_webauthn.ts";

Deno.test("SoftwareCredentials leaks the PRF output through toJSON(), as browsers do", async () => {
  const { phone, device } = await enrolled();
  const credential = await phone.credentials.get({
    publicKey: {
      rpId: rp_id,
      challenge: random(),
      allowCredentials: [{ type: "public-key", id: bytesOf(device.credential_id) }],
      extensions: { prf: { eval: prf } },
    },
  });
  const json = credential.toJSON() as { clientExtensionResults: { prf: { results: unknown } } };
  assert.deepEqual(
    json.clientExtensionResults.prf.results,
    credential.getClientExtensionResults().prf?.results,
  );
});

Deno.test("SoftwareCredentials chooses PRF inputs by credential, else eval", async () => {
  const { phone, device } = await enrolled();
  const id = device.credential_id;
  const evaluate = async (
    request: Parameters<typeof phone.credentials.get>[0]["publicKey"]["extensions"],
  ) => {
    const credential = await phone.credentials.get({
      publicKey: {
        rpId: rp_id,
        challenge: random(),
        allowCredentials: [{ type: "public-key", id: bytesOf(id) }],
        extensions: request,
      },
    });
    return credential.getClientExtensionResults();
  };
  const other = { first: random() };
  const byEval = await evaluate({ prf: { eval: other } });
  assert.deepEqual(await evaluate({ prf: { eval: prf, evalByCredential: { [id]: other } } }), byEval);
  assert.equal(byEval.prf?.results?.second, undefined);
  assert.deepEqual(await evaluate({}), {});
  for (const wrong of ["", toBase64url(random(20)), `${id}=`]) {
    const request = evaluate({ prf: { evalByCredential: { [wrong]: other } } });
    await assert.rejects(request, named("SyntaxError"), wrong);
  }
});

Deno.test("SoftwareCredentials refuses what browsers refuse at create", async () => {
  const { phone } = await enrolled();
  const good: CreationOptions = {
    rp: { id: rp_id, name: "custos" },
    user: { id: random(), name: "custos", displayName: "custos" },
    challenge: random(),
    pubKeyCredParams: [{ type: "public-key", alg: -7 }],
  };
  const made = await phone.credentials.create({ publicKey: good });
  assert.deepEqual(made.getClientExtensionResults(), {});
  const rows: [string, Partial<CreationOptions>, string][] = [
    ["no ES256", { pubKeyCredParams: [{ type: "public-key", alg: -257 }] }, "NotSupportedError"],
    ["PRF by credential", { extensions: { prf: { evalByCredential: {} } } }, "NotSupportedError"],
    ["another RP", { rp: { id: "evil.test", name: "" } }, "SecurityError"],
    ["an empty user id", { user: { ...good.user, id: new Uint8Array(0) } }, "TypeError"],
    ["a user id of 65 bytes", { user: { ...good.user, id: new Uint8Array(65) } }, "TypeError"],
  ];
  for (const [what, change, name] of rows) {
    const request = phone.credentials.create({ publicKey: { ...good, ...change } });
    await assert.rejects(request, (error: Error) => error.name === name, what);
  }
});
