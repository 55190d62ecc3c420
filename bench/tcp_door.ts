/**
 * Loaded before the daemon (`--preload`) by the bench: load generators speak TCP and not unix sockets, so whatever the
 * daemon serves on its socket is served on a loopback port as well, by the same handler in the same process. The port is
 * written to `<socket>.port`. The daemon itself has no such option, and runs under the same flags as ever.
 */

const serve = Deno.serve;

function both(options: Deno.ServeUnixOptions, handler: Deno.ServeHandler<Deno.UnixAddr>): Deno.HttpServer {
  serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => Deno.writeTextFileSync(`${options.path}.port`, String(port)),
  }, handler as unknown as Deno.ServeHandler);
  return serve(options, handler);
}

Object.defineProperty(Deno, "serve", { value: both });
