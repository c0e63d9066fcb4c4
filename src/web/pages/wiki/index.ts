import { type Context, Hono } from "hono";

import { malformed } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { forReaders } from "./enter.ts";
import { sendDeletion, sendEdit, sendNew, showDeletion, showEdit, showNew } from "./form.tsx";
import { showPages } from "./list.tsx";
import { showPage } from "./page.tsx";
import { answerChanges, showCommit, showRevisions } from "./revisions.tsx";

type Handler = (c: Context<WebEnv>) => Promise<Response>;

/** The pages of a wiki: what `action` names, of the page that the path names. */
const wiki = new Hono<WebEnv>();

wiki.get("/:owner/:repo/wiki/commit/:id{[0-9a-fA-F]{4,40}\\.(?:diff|patch)}", (c) => {
  const [id = "", format = ""] = c.req.param("id").split(".");
  return forReaders((_, page) => answerChanges(c, page, id, format))(c);
});

wiki.get("/:owner/:repo/wiki/commit/:id{[0-9a-fA-F]{4,40}}", (c) =>
  forReaders((_, page) => showCommit(c, page, c.req.param("id")))(c),
);

const SHOWN: Readonly<Record<string, Handler>> = {
  _pages: forReaders(showPages),
  _revision: forReaders(showRevisions),
  _new: showNew,
  _edit: showEdit,
  _delete: showDeletion,
};

const SENT: Readonly<Record<string, Handler>> = {
  _new: sendNew,
  _edit: sendEdit,
  _delete: sendDeletion,
};

const show = forReaders(showPage);
const actionOf = (c: Context<WebEnv>, handlers: Readonly<Record<string, Handler>>) => {
  const action = c.req.query("action") ?? "";
  return Object.hasOwn(handlers, action) ? handlers[action] : undefined;
};

for (const path of ["/:owner/:repo/wiki", "/:owner/:repo/wiki/:page{.+}"]) {
  wiki.get(path, (c) => (actionOf(c, SHOWN) ?? show)(c));
  wiki.post(path, (c) => {
    const handler = actionOf(c, SENT);
    if (!handler) throw malformed("The form names no action.");
    return handler(c);
  });
}

export const wikiPages = [wiki];
