import { type Context, Hono } from "hono";

import { createBlock, deleteBlock } from "../../../domain/people/accounts/block.ts";
import { createFollow, deleteFollow } from "../../../domain/people/accounts/follow.ts";
import { invalid } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath } from "../addresses.ts";
import { type Form, readForm } from "../form.ts";
import { Notice } from "../layout.tsx";
import { type OwnPage, requireOwn } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { Pager, readListPage } from "../pager.tsx";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { type AccountPage, enterAccountPage } from "./enter.ts";
import { renderAccount } from "./frame.tsx";
import { showOverview } from "./overview.tsx";
import { isPart, PARTS } from "./parts.tsx";

const PAGE_SIZE = 20;

/** The page of a user or an organization. */
export const profile = new Hono<WebEnv>();

profile.get("/:name", async (c) => showProfile(c, await enterAccountPage(c)));

profile.get("/:name/-/repositories", (c) =>
  c.redirect(`/${c.req.param("name")}?tab=repositories`, 303),
);

/** Sends the part of an account that the query names by `tab`. */
async function showProfile(c: Context<WebEnv>, page: AccountPage): Promise<Response> {
  const requested = c.req.query("tab") ?? "overview";
  const overview = requested === "overview" ? await showOverview(page) : undefined;
  if (overview) {
    return renderAccount(c, page, { tab: "overview", hasUserText: true }, overview);
  }
  const tab = isPart(requested, page) ? requested : "repositories";
  const list = readListPage(c, PAGE_SIZE);
  const { body, total } = await PARTS[tab](c, page, list);
  return renderAccount(
    c,
    page,
    { tab },
    <>
      {body}
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
}

profile.post("/:name", async (c) => {
  const page = await enterAccountPage(c);
  const { user } = requireOwn(c, page);
  const form = await readForm(c);
  return orRefuse(
    c,
    async () => {
      await changeRelation(page, user, form);
      return redirectAfterWrite(c, accountPath(page.account));
    },
    ({ text, status }) =>
      renderAccount(c, page, { tab: "repositories", status }, <Notice kind="error">{text}</Notice>),
  );
});

async function changeRelation(
  { ctx, account }: AccountPage,
  user: OwnPage["user"],
  form: Form,
): Promise<void> {
  switch (form.text("action")) {
    case "follow":
      return createFollow(ctx, user, account);
    case "unfollow":
      return deleteFollow(ctx, user, account);
    case "block":
      return createBlock(ctx, user, account, form.text("note"));
    case "unblock":
      return deleteBlock(ctx, user, account.name);
    default:
      throw invalid("This form has no action.");
  }
}
