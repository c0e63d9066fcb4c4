import type { Context } from "hono";

import { ANONYMOUS } from "../../auth/actor.ts";
import { FAILURE_STATUS, failureHeaders } from "../../entrance/failure-status.ts";
import { Failure } from "../../lib/failure.ts";
import type { WebEnv } from "../env.ts";
import { type Form, ForeignForm } from "./form.ts";
import { Notice } from "./layout.tsx";
import { type Refusal, TEMPLATE_FIELD } from "./or-refuse.ts";
import { ownPath, withRedirectTo } from "./redirect-to.ts";
import { renderPage } from "./render-page.tsx";
import { toSentence } from "./to-sentence.ts";

/** The fields with texts that nobody likes to type twice. */
const TEXTS = ["title", "body", "content", "name", "description", "message"];

/** What was typed into a form, but for fields of one line that are quickly filled in again. */
const textsOf = (form: Form): string[] =>
  [...TEXTS, ...form.namesWith(TEMPLATE_FIELD)]
    .map((name) => form.text(name))
    .filter((text) => text.trim() !== "");

/**
 * Does what a form asks for; where it is refused so that its own page can't be shown again, shows
 * what was typed: its sender is signed out by now, or has signed in again since the page was
 * opened, or what it is about is gone, archived or not to be written to any more.
 */
export async function keepText(
  c: Context<WebEnv>,
  form: Form,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    const texts = textsOf(form);
    if (!(error instanceof Failure) || texts.length === 0) throw error;
    for (const [name, value] of Object.entries(failureHeaders(error))) c.header(name, value);
    // The query may name what the page does.
    const path = ownPath(c.req.url) + new URL(c.req.url).search;
    return renderPage(
      c,
      { ctx: { ...c.var.base, actor: ANONYMOUS }, formToken: "", unreadCount: 0 },
      { title: "Not sent", status: isOfSession(error) ? 403 : FAILURE_STATUS[error.kind] },
      <section class="card">
        <h1>Your text was not sent</h1>
        <p>
          {`${reasonOf(error)} The text is below: copy it, `}
          {isOfSession(error) || error.kind === "not_found" ? (
            <>
              <a href={withRedirectTo("/user/login", path)}>sign in</a>
              {" or "}
            </>
          ) : undefined}
          <a href={path}>open the page again</a>, and send it there.
        </p>
        <KeptTexts form={form} />
      </section>,
    );
  }
}

/** What was typed and not sent, to be copied. */
function KeptTexts({ form }: { form: Form }) {
  return (
    <>
      {textsOf(form).map((text, at) => (
        <textarea readonly rows={8} aria-label={`Text ${at + 1}`}>{`\n${text}`}</textarea>
      ))}
    </>
  );
}

/** A refusal that no form of the page shows, with what was typed. */
export function UnshownRefusal({ form, refusal }: { form: Form; refusal: Refusal }) {
  return (
    <>
      <Notice kind="error">{refusal.text}</Notice>
      <KeptTexts form={form} />
    </>
  );
}

/** Whether a form was refused since its page is of another session. */
const isOfSession = (error: Failure): boolean =>
  error instanceof ForeignForm || error.kind === "unauthenticated";

function reasonOf(error: Failure): string {
  if (isOfSession(error)) {
    return "Your session has ended, or you have signed in again since the page was opened.";
  }
  return error.kind === "not_found"
    ? "There is no such page any more, or it is not for you, or your session has ended."
    : toSentence(error.message);
}
