/** How {@link custosFetch} rejects: as `fetch` does, with what custos knows in `cause`. */

import type { RpcError } from "./rpc_error.ts";

/**
 * A `TypeError`, as the Fetch standard has it for a request that failed, whose `cause` says why: its `kind`, and in
 * `cause.request` the id and the three words of the request on the phone.
 */
export class CustosFetchError extends TypeError {
  override readonly name: string = "CustosFetchError";
  override readonly cause: RpcError;

  constructor(cause: RpcError) {
    const about = cause.request === null
      ? ""
      : ` (request ${cause.request.id}, fingerprint: ${cause.request.fingerprint})`;
    super(`${cause.kind}: ${cause.message}${about}`);
    this.cause = cause;
  }
}
