import type { Context } from "hono";

import { ANONYMOUS } from "../../auth/actor.ts";
import { Failure } from "../../lib/failure.ts";
import type { WebEnv } from "../env.ts";
import { type Form, ForeignForm } from "./form.ts";
import { openPublicPage, SignInNeeded } from "./open-page.ts";
import { withRedirectTo } from "./redirect-to.ts";
import { renderPage } from "./render-page.tsx";

/**
 * Does what a form asks for; where its sender is signed out by now, or has signed in again since
 * the page was opened, shows what was typed, which the form's own page can't any more.
 *
 * Cost: one round trip of the database where the work is refused.
 *
 * @param names The fields with texts that nobody likes to type twice.
 */
export async function keepText(
  c: Context<WebEnv>,
  form: Form,
  names: readonly string[],
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || !(await isOfFormerSession(c, error))) throw error;
    const path = new URL(c.req.url).pathname;
    const texts = names.map((name) => form.text(name)).filter((text) => text.trim() !== "");
    return renderPage(
      c,
      { ctx: { ...c.var.base, actor: ANONYMOUS }, formToken: "", unreadCount: 0 },
      { title: "Not sent", status: 403 },
      <section class="card">
        <h1>Your text was not sent</h1>
        <p>
          Your session has ended, or you have signed in again since the page was opened. The text is
          below: copy it, <a href={withRedirectTo("/user/login", path)}>sign in</a> or{" "}
          <a href={path}>open the page again</a>, and send it there.
        </p>
        {texts.map((text, at) => (
          <textarea readonly rows={8} aria-label={`Text ${at + 1}`}>{`\n${text}`}</textarea>
        ))}
      </section>,
    );
  }
}

/**
 * Whether a form was refused because of the session. Where the sender is anonymous by now, what
 * they wrote to may seem not to exist.
 */
async function isOfFormerSession(c: Context<WebEnv>, error: Failure): Promise<boolean> {
  if (error instanceof ForeignForm || error instanceof SignInNeeded) return true;
  if (error.kind !== "unauthenticated" && error.kind !== "not_found") return false;
  const { ctx } = await openPublicPage(c, "always");
  return ctx.actor.user === undefined;
}
