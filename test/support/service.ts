import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";

import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import type { Writes } from "../../src/lib/writes.ts";
import type { MailBindings } from "../../src/outgoing/mailer.ts";
import { TEST_SETTINGS } from "./system.ts";
import { send, type Answer, type Sending } from "./call.ts";

/**
 * The service with another configuration, on the same bindings.
 *
 * @param vars     Variables of the Worker.
 * @param bindings Bindings that replace the Worker's own.
 * @returns A function like `call` for this service.
 */
export function serviceWith(vars: Record<string, string>, bindings: Replaced = {}) {
  const visit = doorsWith(vars, bindings);
  return (method: string, path: string, sending: Sending = {}): Promise<Answer> =>
    visit(method, `/api/v1${path}`, sending);
}

/** Bindings that replace the Worker's own; those that a service can do without may be missing. */
type Replaced = Partial<{ [Name in keyof Env]: Env[Name] | undefined }> & {
  MAIL?: MailBindings["MAIL"];
};

/**
 * Like `serviceWith`, for all paths: returns a function like `visit`.
 *
 * @param writes The writes of which it knows: for a service in another isolate, none of this one's.
 */
export function doorsWith(vars: Record<string, string>, bindings: Replaced = {}, writes?: Writes) {
  const app = createApp(parseConfig({ ...TEST_SETTINGS, ...vars }), writes);
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
