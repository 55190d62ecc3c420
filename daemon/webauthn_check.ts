/**
 * The daemon's WebAuthn checks, all in this file. `@simplewebauthn/server` verifies well what it verifies, and leaves the
 * rest to its caller: it does not compare the response's id with the credential's, accepts `crossOrigin: true` without
 * `topOrigin`, takes the attestation format from the response, accepts several algorithms, and fails in two ways
 * (throws, or `verified: false`) with texts that hold the expected challenge.
 *
 * So: our own reading of the bytes comes first and decides; the library is a second opinion that can only refuse; and
 * each outcome is one tagged result whose text names a step and never a value.
 *
 * Not here, because it needs the store: consuming the challenge once (B120). A refusal consumes nothing (B121).
 */

import {
  type Assertion,
  type AssertionDevice,
  type AssertionStep,
  decodeField,
  isCredentialId,
  verifyAssertion,
} from "@custos/core/assertion";
import { type ClientDataStep, readClientData } from "@custos/core/assertion_client_data";
import { FLAGS, isExtensionsPart, readAuthenticatorData, refusedFlag } from "@custos/core/assertion_data";
import { coseToPoint } from "@custos/core/assertion_es256";
import { type Bytes, equalBytes, toBase64url, utf8 } from "@custos/core/bytes";
import { sha256 } from "@custos/core/labels";
import { decodeCBOR } from "@levischuck/tiny-cbor";

export { normaliseOrigin, type PhoneOrigin } from "./webauthn_origin.ts";

/** Loaded with the first answer of a phone: it is 13 MB of memory that an idle daemon does without. */
const library = () => import("@simplewebauthn/server");

/** A registration as it travels: unpadded base64url. */
export interface Registration {
  credential_id: string;
  client_data_json: string;
  attestation_object: string;
}

/** What a registration must be for. `origin` is canonical ({@link normaliseOrigin}), `challenge` has 32 bytes. */
export interface ExpectedRegistration {
  challenge: Uint8Array;
  rp_id: string;
  origin: string;
}

/** Where a check refused. `second_opinion` is the library's refusal of what our own checks had accepted. */
export type WebauthnStep =
  | AssertionStep
  | ClientDataStep
  | "attestation_object"
  | "attestation_format"
  | "counter"
  | "second_opinion";

/** A refusal. `message` is for people and logs; it holds no value of the response and none that was expected. */
export interface WebauthnRefusal {
  ok: false;
  step: WebauthnStep;
  message: string;
}

/** A registration's outcome; refusal comes first. `device` is what later assertions are verified against. */
export type RegistrationResult =
  | WebauthnRefusal
  | { ok: true; device: AssertionDevice; sign_count: number; backed_up: boolean };

/** An approval's outcome; refusal comes first. Store `sign_count` with the device. */
export type ApprovalResult = WebauthnRefusal | { ok: true; sign_count: number };

const ES256 = -7;
const AAGUID_BYTES = 16;
const COSE_KEY_BYTES = 77;

/**
 * Verifies a new passkey, as the steps of W3C WebAuthn L3 §7.1: this ceremony, challenge, origin and RP, not framed,
 * person present and verified, no attestation, ES256. Never throws.
 *
 * That the credential id is new among the devices (step 26), and that the PRF works, is checked by the caller.
 */
export async function verifyRegistration(
  registration: Registration,
  expected: ExpectedRegistration,
): Promise<RegistrationResult> {
  try {
    const own = await readRegistration(registration, expected);
    if (!own.ok) return own;
    return await libraryAcceptsRegistration(registration, expected, own.device)
      ? own
      : refuse("second_opinion");
  } catch {
    return refuse("encoding");
  }
}

async function readRegistration(
  registration: Registration,
  expected: ExpectedRegistration,
): Promise<RegistrationResult> {
  const id = decodeField(registration.credential_id);
  const clientData = decodeField(registration.client_data_json);
  const attestation = decodeField(registration.attestation_object);
  if (id === null || clientData === null || attestation === null) return refuse("encoding"); // B115

  // Steps 5 to 11.
  const { challenge, origin, rp_id } = expected;
  const clientStep = readClientData(clientData, { type: "webauthn.create", challenge, origin });
  if (clientStep !== null) return refuse(clientStep);

  // Steps 13, 21 and 22: before the library sees it, which would run the verifier of whatever format is named.
  const object = readAttestationObject(attestation);
  if (object === null) return refuse("attestation_object");
  if (object.fmt !== "none" || object.statement !== 0) return refuse("attestation_format");

  // Steps 14 to 17.
  const data = readAuthenticatorData(object.authData);
  if (data === null) return refuse("authenticator_data");
  if (rp_id === "" || !equalBytes(data.rp_id_hash, await sha256(utf8(rp_id)))) return refuse("rp_id");
  const flag = refusedFlag(data.flags);
  if (flag !== null) return refuse(flag);
  if ((data.flags & FLAGS.attested_credential) === 0) return refuse("credential");

  // Step 20 and the attested credential: the id that was sent is the id that was made, and the key is ES256.
  const idAt = AAGUID_BYTES + 2;
  if (data.rest.length < idAt) return refuse("authenticator_data");
  const idLength = data.rest[AAGUID_BYTES]! * 256 + data.rest[AAGUID_BYTES + 1]!;
  const keyAt = idAt + idLength;
  if (data.rest.length < keyAt) return refuse("authenticator_data");
  if (!isCredentialId(id) || !equalBytes(id, data.rest.subarray(idAt, keyAt))) return refuse("credential");
  const key = data.rest.slice(keyAt, keyAt + COSE_KEY_BYTES);
  if (coseToPoint(key) === null) return refuse("public_key");
  if (!isExtensionsPart(data.flags, data.rest.subarray(keyAt + COSE_KEY_BYTES))) return refuse("extra_bytes");

  const device = { credential_id: toBase64url(id), public_key: toBase64url(key), rp_id, origin };
  const backed_up = (data.flags & FLAGS.backed_up) !== 0;
  return { ok: true, device, sign_count: data.sign_count, backed_up };
}

/** The members of an attestation object, which has exactly three; `statement` is the size of the statement. */
function readAttestationObject(
  bytes: Bytes,
): { fmt: unknown; statement: number; authData: Uint8Array } | null {
  let object: unknown;
  try {
    object = decodeCBOR(bytes);
  } catch {
    return null;
  }
  if (!(object instanceof Map) || object.size !== 3) return null;
  const [statement, authData] = [object.get("attStmt"), object.get("authData")];
  if (!(statement instanceof Map) || !(authData instanceof Uint8Array)) return null;
  return { fmt: object.get("fmt"), statement: statement.size, authData };
}

async function libraryAcceptsRegistration(
  registration: Registration,
  expected: ExpectedRegistration,
  device: AssertionDevice,
): Promise<boolean> {
  try {
    const { verified, registrationInfo } = await (await library()).verifyRegistrationResponse({
      response: {
        id: registration.credential_id,
        rawId: registration.credential_id,
        type: "public-key",
        response: {
          clientDataJSON: registration.client_data_json,
          attestationObject: registration.attestation_object,
        },
        clientExtensionResults: {},
      },
      expectedChallenge: toBase64url(expected.challenge),
      expectedOrigin: expected.origin,
      expectedRPID: expected.rp_id,
      requireUserPresence: true,
      requireUserVerification: true,
      supportedAlgorithmIDs: [ES256],
    });
    const credential = registrationInfo?.credential;
    return verified === true && credential !== undefined && credential.id === device.credential_id &&
      toBase64url(credential.publicKey) === device.public_key;
  } catch {
    return false; // its text holds the expected challenge, so it ends here
  }
}

/**
 * Verifies that `assertion` is this device's signature over `challenge`, the approval hash that the daemon computed
 * itself. The caller looked `device` up by credential id; it is compared again. `stored_count` is the last `sign_count`
 * of this device, 0 for a device that never sent another.
 *
 * Counters (B117): 0 after 0 is accepted for ever, because synced passkeys always send 0. Once a device has sent more
 * than 0, a count that does not grow is refused as `counter`: the passkey may have been copied. Never throws.
 */
export async function verifyApproval(
  assertion: Assertion,
  device: AssertionDevice,
  challenge: Uint8Array,
  stored_count: number,
): Promise<ApprovalResult> {
  const own = await verifyAssertion(assertion, device, challenge);
  if (!own.ok) return refuse(own.step);
  // After the signature: only the passkey itself can raise the alarm.
  const grows = own.sign_count > stored_count;
  if (!grows && !(stored_count === 0 && own.sign_count === 0)) return refuse("counter");
  return await libraryAcceptsApproval(assertion, device, challenge, stored_count)
    ? own
    : refuse("second_opinion");
}

async function libraryAcceptsApproval(
  assertion: Assertion,
  device: AssertionDevice,
  challenge: Uint8Array,
  stored_count: number,
): Promise<boolean> {
  const publicKey = decodeField(device.public_key);
  if (publicKey === null) return false;
  try {
    const { verified } = await (await library()).verifyAuthenticationResponse({
      response: {
        id: assertion.credential_id,
        rawId: assertion.credential_id,
        type: "public-key",
        response: {
          clientDataJSON: assertion.client_data_json,
          authenticatorData: assertion.authenticator_data,
          signature: assertion.signature,
        },
        clientExtensionResults: {},
      },
      expectedChallenge: toBase64url(challenge),
      expectedOrigin: device.origin,
      expectedRPID: device.rp_id,
      requireUserVerification: true,
      credential: { id: device.credential_id, publicKey, counter: stored_count },
    });
    return verified === true;
  } catch {
    return false; // its text holds the expected challenge, so it ends here
  }
}

const TEXTS: Record<WebauthnStep, string> = {
  encoding: "it is not unpadded base64url of a sensible length",
  credential: "it is not of the passkey that was asked",
  client_data: "its client data cannot be read",
  type: "it is of another ceremony",
  challenge: "it is for something else",
  origin: "it was made on another page",
  cross_origin: "it was made inside a frame of another page",
  top_origin: "it was made inside a frame of another page",
  attestation_object: "its attestation object cannot be read",
  attestation_format: "it carries an attestation, and custos takes none",
  authenticator_data: "its authenticator data cannot be read",
  rp_id: "it belongs to another site",
  user_presence: "nobody touched the device",
  user_verification: "the device did not verify the person",
  backup_flags: "its backup flags contradict each other",
  extra_bytes: "its authenticator data holds bytes that do not belong there",
  public_key: "its key is not an ES256 key in canonical form",
  signature_form: "its signature is not strict DER",
  signature: "its signature is not valid",
  counter: "its counter did not grow, so the passkey may have been copied",
  second_opinion: "the WebAuthn library refused it",
};

function refuse(step: WebauthnStep): WebauthnRefusal {
  return { ok: false, step, message: `The passkey's answer was refused: ${TEXTS[step]}.` };
}
