/**
 * The MCP server of custos: four tools with which an agent uses secrets that it never sees.
 *
 * @module
 */

export { createServer, type ServerOptions, TOOLS } from "./server.ts";
export { type Pipes, PipeTransport } from "./stdio.ts";
export type { Annotations, CallContext, Daemon, JsonSchema, Tool } from "./tool.ts";
export type { ToolResult } from "./results.ts";
export { type Notify, Progress } from "./progress.ts";
