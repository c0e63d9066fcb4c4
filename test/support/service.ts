import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";

import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { TEST_SETTINGS } from "./system.ts";
import { send, type Answer, type Sending } from "./call.ts";

/**
 * The service as an operator could have configured it, on the same bindings.
 *
 * @param vars     Variables of the Worker.
 * @param bindings Bindings that take the place of the Worker's own.
 * @returns What `call` is for the service as it is.
 */
export function serviceWith(vars: Record<string, string>, bindings: Partial<Env> = {}) {
  const visit = doorsWith(vars, bindings);
  return (method: string, path: string, sending: Sending = {}): Promise<Answer> =>
    visit(method, `/api/v1${path}`, sending);
}

/** The same for all its doors: what `visit` is for the service as it is. */
export function doorsWith(vars: Record<string, string>, bindings: Partial<Env> = {}) {
  const app = createApp(parseConfig({ ...TEST_SETTINGS, ...vars }));
  return (method: string, path: string, sending: Sending = {}): Promise<Answer> =>
    send(
      async (request) => {
        const execution = createExecutionContext();
        const response = await app.fetch(request, { ...env, ...bindings }, execution);
        await waitOnExecutionContext(execution);
        return response;
      },
      method,
      path,
      sending,
    );
}
