import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { SCOPE_CATEGORIES } from "../../../auth/scope.ts";
import { createAccessToken } from "../../../domain/people/tokens/create-access-token.ts";
import { deleteAccessToken } from "../../../domain/people/tokens/delete-access-token.ts";
import {
  type AccessTokenEntry,
  listAccessTokens,
} from "../../../domain/people/tokens/list-access-tokens.ts";
import { invalid } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { type Form as SentForm, readForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import { orRefuse, type Refusal } from "../or-refuse.ts";
import { readId } from "../read-id.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { Time } from "../time.tsx";
import { renderSettings } from "./settings-page.tsx";

const PATH = "/user/settings/tokens";
const NAME_LENGTH_MAX = 255;
/** Tokens that the page lists; the API lists all. */
const LISTED = { size: 100, offset: 0 };

/** The reader's access tokens. */
export const tokens = new Hono<WebEnv>({ router: new TrieRouter() });

tokens.get(PATH, async (c) => renderTokens(c, await openOwnPage(c)));

tokens.post(PATH, async (c) => {
  const form = await readForm(c);
  const page = await openOwnPage(c);
  return orRefuse(
    c,
    async () => {
      const { ctx, user } = page;
      const input = readToken(form);
      await c.var.base.rateLimits.count("TOKEN_CREATIONS", `account ${user.id}`);
      const { secret } = await createAccessToken(ctx, user, input);
      return renderTokens(c, page, { secret });
    },
    (refusal) => renderTokens(c, page, { refusal }),
  );
});

tokens.post(`${PATH}/delete`, async (c) => {
  const form = await readForm(c);
  const { ctx, user } = await openOwnPage(c);
  await deleteAccessToken(ctx, user, String(readId(form.text("id"))));
  return redirectAfterWrite(c, PATH);
});

function readToken(form: SentForm) {
  const name = form.text("name").trim();
  if (name === "" || name.length > NAME_LENGTH_MAX) {
    throw invalid(`The name must have 1 to ${NAME_LENGTH_MAX} characters.`);
  }
  const levels = SCOPE_CATEGORIES.map((category) => [form.text(`scope-${category}`), category]);
  const scopes = levels.filter(([level]) => level !== "").map(([level, of]) => `${level}:${of}`);
  if (form.text("public_only") !== "") scopes.push("public-only");
  const day = form.text("expires");
  if (day !== "" && !/^\d{4}-\d{2}-\d{2}$/.test(day)) throw invalid("The day is not one.");
  // Until the end of the day, in UTC.
  const expiresAt = day === "" ? null : Date.parse(`${day}T23:59:59Z`);
  if (Number.isNaN(expiresAt)) throw invalid("The day is not one.");
  const bindings = { refs: null, paths: null, packages: null };
  return { name, scopes, expiresAt, repositories: null, bindings };
}

interface TokensState {
  /** The secret of a token that was just made. */
  secret?: string;
  refusal?: Refusal;
}

async function renderTokens(c: Context<WebEnv>, page: OwnPage, state: TokensState = {}) {
  const { items, total } = await listAccessTokens(page.ctx, page.user, LISTED);
  return renderSettings(
    c,
    page,
    { part: "tokens", refusal: state.refusal },
    <>
      {state.secret === undefined ? undefined : (
        <section class="card" aria-labelledby="secret">
          <h2 id="secret">Your new token</h2>
          <p>Copy it now. It is not shown again.</p>
          <p class="secret">{state.secret}</p>
        </section>
      )}
      <section class="card" aria-labelledby="tokens">
        <h2 id="tokens">Access tokens</h2>
        <p>
          Clients of the API, git and package registries send a token in place of your password.
        </p>
        {items.length === 0 ? <p>You have none.</p> : undefined}
        <ul class="list">
          {items.map((entry) => (
            <Token entry={entry} formToken={page.formToken} />
          ))}
        </ul>
        {total > items.length ? (
          <p class="soft">
            The newest {items.length} of {total}. The API lists all.
          </p>
        ) : undefined}
      </section>
      <NewToken formToken={page.formToken} />
    </>,
  );
}

const Token = ({
  entry: { token, boundTo },
  formToken,
}: {
  entry: AccessTokenEntry;
  formToken: string;
}) => (
  <li>
    <div class="grow">
      <div>{token.name}</div>
      <div class="soft">
        {token.scopes || "no scopes"}
        {token.isBound ? `, bound to ${boundTo.join(", ") || "nothing"}` : undefined}. Made{" "}
        <Time at={token.createdAt} />
        {token.lastUsedAt === null ? (
          ", never used"
        ) : (
          <>
            , last used <Time at={token.lastUsedAt} />
          </>
        )}
        {token.expiresAt === null ? undefined : (
          <>
            , ends <Time at={token.expiresAt} />
          </>
        )}
        .
      </div>
    </div>
    <Form action={`${PATH}/delete`} formToken={formToken}>
      <input type="hidden" name="id" value={String(token.id)} />
      <button type="submit" class="danger">
        Delete<span class="hidden"> {token.name}</span>
      </button>
    </Form>
  </li>
);

const NewToken = ({ formToken }: { formToken: string }) => (
  <section class="card" aria-labelledby="new-token">
    <h2 id="new-token">New token</h2>
    <Form action={PATH} formToken={formToken}>
      <Field label="Name" name="name" autocomplete="off" maxlength={NAME_LENGTH_MAX} />
      <Field
        label="Last day"
        name="expires"
        type="date"
        hint="In UTC. Without one, the token does not end."
        isOptional
      />
      <fieldset>
        <legend>What it may do</legend>
        <div class="scopes">
          {SCOPE_CATEGORIES.map((category) => (
            <div>
              <label for={`scope-${category}`}>{category}</label>
              <select id={`scope-${category}`} name={`scope-${category}`}>
                <option value="">Nothing</option>
                <option value="read">Read</option>
                <option value="write">Read and write</option>
              </select>
            </div>
          ))}
        </div>
      </fieldset>
      <label class="check field">
        <input type="checkbox" name="public_only" value="on" />
        Only what is public
      </label>
      <button type="submit" class="primary">
        Make token
      </button>
    </Form>
  </section>
);
