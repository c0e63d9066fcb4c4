import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import {
  type BlockEntry,
  createBlock,
  deleteBlock,
  listBlocks,
} from "../../../domain/people/accounts/block.ts";
import { findSeenAccount } from "../../../domain/people/accounts/find-account.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath } from "../addresses.ts";
import { Avatar } from "../avatar.tsx";
import { GeneralFault } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { Field, Form } from "../layout.tsx";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import { Pager, readListPage } from "../pager.tsx";
import { changeOwn } from "./change-own.ts";
import { renderSettings } from "./settings-page.tsx";

const PATH = "/user/settings/blocked_users";
const PAGE_SIZE = 50;
const NOTE_CHARS_MAX = 255;

/** The users whom the reader blocks. */
export const blockedUsers = new Hono<WebEnv>({ router: new TrieRouter() });

blockedUsers.get(PATH, async (c) => renderBlocked(c, await openOwnPage(c), FormState.fresh()));

blockedUsers.post(PATH, (c) =>
  changeOwn(
    c,
    async ({ ctx, user }, form) => {
      const note = form.line("note", NOTE_CHARS_MAX);
      const blocked = await findSeenAccount(ctx, form.text("blockee").trim());
      if (!blocked) throw invalidField("blockee", "must be the name of a user");
      await createBlock(ctx, user, blocked, note);
      return PATH;
    },
    (page, state) => renderBlocked(c, page, state),
  ),
);

blockedUsers.post(`${PATH}/unblock`, (c) =>
  changeOwn(
    c,
    async ({ ctx, user }, form) => {
      await deleteBlock(ctx, user, form.text("blockee"));
      return PATH;
    },
    (page, { refusal }) => renderBlocked(c, page, FormState.fresh({}, refusal)),
  ),
);

async function renderBlocked(c: Context<WebEnv>, page: OwnPage, state: FormState) {
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await listBlocks(page.ctx, page.user, list);
  return renderSettings(
    c,
    page,
    { part: "blocked_users", status: state.refusal?.status ?? 200 },
    <section class="card form" aria-labelledby="blocked">
      <h2 id="blocked">Blocked users</h2>
      <p>
        Who is blocked reads what is public, and can't follow you, comment on your repositories,
        star, watch or fork them.
      </p>
      <ul class="list">
        {items.map((entry) => (
          <Blocked entry={entry} formToken={page.formToken} />
        ))}
      </ul>
      <Pager url={c.req.url} page={list} total={total} />
      <h3>Block somebody</h3>
      <p>
        Follows, stars, watches, roles of collaborators and pending transfers between the two of you
        end.
      </p>
      <GeneralFault state={state} fields={["blockee", "note"]} />
      <Form action={PATH} formToken={page.formToken}>
        <Field label="User name" {...state.of("blockee")} autocomplete="off" maxlength={40} />
        <Field
          label="Note"
          {...state.of("note")}
          maxlength={NOTE_CHARS_MAX}
          hint="Only you read it."
          isOptional
        />
        <button type="submit">Block</button>
      </Form>
    </section>,
  );
}

const Blocked = ({
  entry: { user, note },
  formToken,
}: {
  entry: BlockEntry;
  formToken: string;
}) => (
  <li>
    <Avatar account={user} size={32} />
    <div class="grow">
      <a href={accountPath(user)}>{user.name}</a>
      {note === "" ? undefined : <div class="soft">{note}</div>}
    </div>
    <Form action={`${PATH}/unblock`} formToken={formToken}>
      <input type="hidden" name="blockee" value={user.name} />
      <button type="submit">
        Unblock<span class="hidden">{` ${user.name}`}</span>
      </button>
    </Form>
  </li>
);
