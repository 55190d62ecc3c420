import { Life } from "./life.ts";
import { Trigger } from "./moments.ts";
import { Stage } from "../relay_malice/stage.ts";
for (const call of [7,8,9,10,11,12,13]) for (const side of ["before","after"] as const) {
  const stage = await Stage.open(); const life = new Life(stage);
  await stage.startDaemon();
  const risen = Promise.withResolvers<void>(); life.risen = risen.promise;
  const log: string[] = [];
  const t = life.trigger = new Trigger({kind:"relay", caller:"daemon", call, side}, () => { log.push("strike"); stage.process!.kill("SIGKILL"); stage.process!.status.then(() => stage.startDaemon()).then(risen.resolve, risen.reject); });
  try { await life.pair(); log.push("paired"); } catch (e) { log.push(String(e)); }
  t.end(); await risen.promise;
  console.log(call, side, log.join(" "));
  await stage[Symbol.asyncDispose]();
}
