import type { Context } from "hono";

import { ANONYMOUS } from "../../auth/actor.ts";
import { asFailure } from "../../entrance/as-failure.ts";
import { FAILURE_STATUS, failureHeaders } from "../../entrance/failure-status.ts";
import { Moved } from "../../entrance/moved.ts";
import { Failure, type FailureKind } from "../../lib/failure.ts";
import { logBug } from "../../lib/log.ts";
import type { WebEnv } from "../env.ts";
import { pathAndQuery, SignInNeeded } from "./open-page.ts";
import { withRedirectTo } from "./redirect-to.ts";
import { renderPage } from "./render-page.tsx";
import { toSentence } from "./to-sentence.ts";

const TITLES: Partial<Record<FailureKind, string>> = {
  forbidden: "Not allowed",
  not_found: "Page not found",
  too_large: "Too large",
  too_many: "Too many attempts",
};

/** Renders a thrown error as a page. */
export async function renderPageFailure(thrown: unknown, c: Context<WebEnv>): Promise<Response> {
  const error = asFailure(thrown);
  if (error instanceof SignInNeeded) return c.redirect(error.path, 303);
  if (error instanceof Moved) return c.redirect(error.location, error.status);
  if (error instanceof Failure && error.kind === "unauthenticated" && c.req.method === "GET") {
    return c.redirect(withRedirectTo("/user/login", pathAndQuery(c)), 303);
  }
  if (error instanceof Failure) {
    for (const [name, value] of Object.entries(failureHeaders(error))) c.header(name, value);
    const message =
      error.kind === "not_found"
        ? "There is no such page, or it is not for you."
        : toSentence(error.message);
    return render(c, FAILURE_STATUS[error.kind], TITLES[error.kind] ?? "Not possible", message);
  }
  logBug(c.var.requestId, error);
  const message = `Something went wrong on our side. Its number is ${c.var.requestId}.`;
  return render(c, 500, "Internal error", message);
}

function render(
  c: Context<WebEnv>,
  status: (typeof FAILURE_STATUS)[FailureKind] | 500,
  title: string,
  message: string,
): Response | Promise<Response> {
  // As for an anonymous reader: who the reader is may be what failed.
  const ctx = { ...c.var.base, actor: ANONYMOUS };
  return renderPage(
    c,
    // Without a form, and so without a cookie.
    { ctx, formToken: "", unreadCount: 0 },
    { title, status },
    <section class="card">
      <h1>{title}</h1>
      <p>{message}</p>
      <p>
        <a href="/">To the start</a>
      </p>
    </section>,
  );
}
