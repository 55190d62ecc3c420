/** Entry point of the phone app. */

import { render } from "preact";
import { App } from "./app.tsx";
import { Model } from "./model.ts";
import { readConfig } from "./platform/config.ts";
import { IdbStore } from "./platform/idb_store.ts";
import { showTheme, storedTheme } from "./platform/theme.ts";
import { startPlatform } from "./updates.ts";

showTheme(storedTheme());
const model = new Model(new IdbStore(), readConfig());
render(<App model={model} />, document.getElementById("app")!);
startPlatform(model);
await model.start();
