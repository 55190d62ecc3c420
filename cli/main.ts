/**
 * The command `custos`. It may open one socket and nothing else (DESIGN §3).
 *
 * @module
 */

if (import.meta.main) {
  // SIGUSR1 makes the runtime open its inspector, permission or not; a listener that exits prevents it (DESIGN §3). It is
  // there before anything else is loaded.
  Deno.addSignalListener("SIGUSR1", () => Deno.exit(5));
  const [{ Client }, { run }, { systemIo }] = await Promise.all([
    import("@custos/rpc/client"),
    import("./run.ts"),
    import("./system_io.ts"),
  ]);
  Deno.exit(await run(Deno.args, systemIo(), (socket) => new Client({ socket })));
}
