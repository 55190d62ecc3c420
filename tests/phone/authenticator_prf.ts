/** The client side of the PRF extension (W3C WebAuthn L3 §10.1.4). */

import { base64url } from "./authenticator_bytes.ts";
import { evaluatePrf, type StoredPasskey } from "./authenticator_state.ts";

/** Two inputs; the second may be left out. */
export interface PrfValues {
  first: Uint8Array;
  second?: Uint8Array;
}

/** `AuthenticationExtensionsPRFInputs`. Keys of `evalByCredential` are unpadded base64url. */
export interface PrfRequest {
  eval?: PrfValues;
  evalByCredential?: Record<string, PrfValues>;
}

/** One output, in a form that a provider gives. */
export type PrfOutput = ArrayBuffer | number[];

/** `AuthenticationExtensionsPRFOutputs`. `enabled` at `create` only. */
export interface PrfResults {
  enabled?: boolean;
  results?: { first: PrfOutput; second?: PrfOutput };
}

/**
 * What a client refuses. `allowed` is `null` at `create`, else the ids of `allowCredentials`: `evalByCredential` is for
 * `get` only, and names only credentials that are allowed.
 */
export function checkPrfRequest(request: PrfRequest | undefined, allowed: readonly string[] | null): void {
  const named = Object.keys(request?.evalByCredential ?? {});
  if (request?.evalByCredential !== undefined && allowed === null) {
    throw new DOMException("evalByCredential is for get() only.", "NotSupportedError");
  }
  if (named.some((id) => id === "" || !allowed!.includes(id))) {
    throw new DOMException("evalByCredential names a credential that is not allowed.", "SyntaxError");
  }
}

/** The inputs for the credential that answers: its own entry, else `eval`. */
export function prfSelection(request: PrfRequest | undefined, credential_id: string): PrfValues | undefined {
  return request?.evalByCredential?.[credential_id] ?? request?.eval;
}

/** The outputs for `values`, or nothing without values. `wrong` and `changed` make them wrong on purpose. */
export async function prfOutputs(
  passkey: StoredPasskey,
  values: PrfValues | undefined,
  wrong: { prf_twice?: boolean; prf_form?: "bytes" | "numbers" },
  changed: boolean,
): Promise<PrfResults> {
  if (values === undefined) return {};
  const other = { ...passkey, prf_secret: base64url(crypto.getRandomValues(new Uint8Array(32))) };
  const output = async (input: Uint8Array): Promise<PrfOutput> => {
    const bytes = await evaluatePrf(changed ? other : passkey, input);
    return wrong.prf_form === "numbers" ? [...bytes] : bytes.buffer;
  };
  const first = await output(values.first);
  if (values.second === undefined) return { results: { first } };
  return { results: { first, second: await output(wrong.prf_twice ? values.first : values.second) } };
}
