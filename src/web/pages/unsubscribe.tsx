import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { readUnsubscribeCode } from "../../domain/issues/notifications/unsubscribe-code.ts";
import { unsubscribe } from "../../domain/issues/notifications/unsubscribe.ts";
import type { WebEnv } from "../env.ts";
import { renderMessage } from "./message.tsx";
import { openPage, type Page } from "./open-page.ts";
import { renderPage } from "./render-page.tsx";

const PATH = "/user/unsubscribe";

/** The end of a subscription, by a link in a mail and without signing in. */
export const unsubscription = new Hono<WebEnv>({ router: new TrieRouter() });

// Programs that check links request them: only a form, or the program of a reader, unsubscribes.
unsubscription.get(PATH, async (c) => {
  const page = await openPage(c);
  const code = c.req.query("code") ?? "";
  if (!(await readUnsubscribeCode(page.ctx.config, code))) return renderInvalid(c, page);
  return renderPage(
    c,
    page,
    { title: "Unsubscribe" },
    <section class="card narrow">
      <h1>Unsubscribe</h1>
      <p>
        You no longer receive notifications of this issue, unless somebody mentions you or assigns
        it to you.
      </p>
      <form method="post" action={`${PATH}?code=${encodeURIComponent(code)}`}>
        <button type="submit" class="primary wide">
          Unsubscribe
        </button>
      </form>
    </section>,
  );
});

/**
 * Unsubscribes, also by the program of a reader, in one step.
 *
 * SECURITY: the code is all that counts, so a form from elsewhere does no more than one from here.
 * The answer reveals nothing of the issue: the reader of the mail may have lost access to it.
 *
 * @see RFC 8058
 */
unsubscription.post(PATH, async (c) => {
  const page = await openPage(c);
  if (!(await unsubscribe(page.ctx, c.req.query("code") ?? ""))) return renderInvalid(c, page);
  return renderMessage(c, page, {
    title: "You are unsubscribed",
    text: "You no longer receive notifications of this issue, unless somebody mentions you or assigns it to you. Your settings choose which mails you receive at all.",
    link: { path: "/user/settings/account", label: "Settings" },
  });
});

const renderInvalid = (c: Context<WebEnv>, page: Page) =>
  renderMessage(c, page, {
    title: "This link is not valid",
    text: "It is not complete, or older than the keys of the service. Sign in to change your subscriptions.",
    status: 404,
  });
