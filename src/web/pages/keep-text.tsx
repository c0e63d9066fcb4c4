import type { Context } from "hono";

import { ANONYMOUS } from "../../auth/actor.ts";
import { Failure } from "../../lib/failure.ts";
import type { WebEnv } from "../env.ts";
import { type Form, ForeignForm } from "./form.ts";
import { SignInNeeded } from "./open-page.ts";
import { TEMPLATE_FIELD } from "./or-refuse.ts";
import { ownPath, withRedirectTo } from "./redirect-to.ts";
import { renderPage } from "./render-page.tsx";

/** The fields with texts that nobody likes to type twice. */
const TEXTS = ["title", "body", "content", "name", "description", "message"];

/**
 * Does what a form asks for; where its sender is signed out by now, or has signed in again since
 * the page was opened, or where what it is about is gone, shows what was typed, which the form's
 * own page can't any more.
 */
export async function keepText(
  c: Context<WebEnv>,
  form: Form,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    const names = [...TEXTS, ...form.namesWith(TEMPLATE_FIELD)];
    const texts = names.map((name) => form.text(name)).filter((text) => text.trim() !== "");
    const isKept = error instanceof Failure && isUnshown(error) && texts.length > 0;
    if (!isKept) throw error;
    const path = ownPath(c.req.url);
    return renderPage(
      c,
      { ctx: { ...c.var.base, actor: ANONYMOUS }, formToken: "", unreadCount: 0 },
      { title: "Not sent", status: error.kind === "not_found" ? 404 : 403 },
      <section class="card">
        <h1>Your text was not sent</h1>
        <p>
          {error.kind === "not_found"
            ? "There is no such page any more, or it is not for you, or your session has ended. "
            : "Your session has ended, or you have signed in again since the page was opened. "}
          The text is below: copy it, <a href={withRedirectTo("/user/login", path)}>sign in</a> or{" "}
          <a href={path}>open the page again</a>, and send it there.
        </p>
        {texts.map((text, at) => (
          <KeptText text={text} number={at + 1} />
        ))}
      </section>,
    );
  }
}

/** A text that was not sent, to be copied. */
export function KeptText({ text, number = 1 }: { text: string; number?: number }) {
  return <textarea readonly rows={8} aria-label={`Text ${number}`}>{`\n${text}`}</textarea>;
}

/** Whether a form was refused so that its own page is not shown again. */
const isUnshown = (error: Failure): boolean =>
  error instanceof ForeignForm ||
  error instanceof SignInNeeded ||
  error.kind === "unauthenticated" ||
  error.kind === "not_found";
