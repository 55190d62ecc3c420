/** A screen that is loaded when it is first needed: the first screen of the app does not wait for it. */

import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

/** A component that loads another one, says so meanwhile, and what to do where it cannot be had. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P): JSX.Element {
    const [ready, setReady] = useState<ComponentType<P> | null>(() => loaded);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (ready !== null) return;
      load().then((component) => {
        loaded = component;
        setReady(() => component);
      }, () => setFailed(true));
    }, []);
    if (ready !== null) {
      const Component = ready;
      return <Component {...props} />;
    }
    return (
      <main class="screen">
        <p class="starting" role="status">
          {failed ? "This screen could not be loaded. Connect once, and open it again." : "Opening…"}
        </p>
      </main>
    );
  };
}
