import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { readStoredScopes, SCOPE_CATEGORIES } from "../../../auth/scope.ts";
import { PATTERNS_MAX } from "../../../domain/people/tokens/check-patterns.ts";
import {
  BOUND_MAX,
  createAccessToken,
  type NewAccessToken,
} from "../../../domain/people/tokens/create-access-token.ts";
import { deleteAccessToken } from "../../../domain/people/tokens/delete-access-token.ts";
import {
  type AccessTokenEntry,
  listAccessTokens,
} from "../../../domain/people/tokens/list-access-tokens.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { ScopeField, scopeFieldOf } from "../scope-field.tsx";
import { ScopeWords } from "../scope-words.tsx";
import { ConfirmMenu } from "../confirm-menu.tsx";
import { CopyButton } from "../copy-button.tsx";
import { CheckField, GeneralFault, AreaField } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { type Form as SentForm, readForm } from "../form.ts";
import { Fault, Field, Form } from "../layout.tsx";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { Pager, readListPage } from "../pager.tsx";
import { readId } from "../read-id.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { Time } from "../time.tsx";
import { renderSettings } from "./settings-page.tsx";

const PATH = "/user/settings/tokens";
const NAME_LENGTH_MAX = 255;
const PATTERN_LENGTH_MAX = 255;
const PAGE_SIZE = 50;

/** The fields that a refusal may be about. */
const FIELDS = ["name", "expires_at", "scopes", "repositories", "refs", "paths", "packages"];

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
    (refusal) => renderTokens(c, page, { state: FormState.refused(form, refusal) }),
    (message) =>
      /\bscope\b/.test(message) ? "scopes" : /\bname\b/.test(message) ? "name" : undefined,
  );
});

tokens.post(`${PATH}/delete`, async (c) => {
  const form = await readForm(c);
  const { ctx, user } = await openOwnPage(c);
  await deleteAccessToken(ctx, user, String(readId(form.text("id"))));
  return redirectAfterWrite(c, PATH);
});

function readToken(form: SentForm): NewAccessToken {
  const name = form.line("name", NAME_LENGTH_MAX);
  if (name === "") throw invalidField("name", "must not be empty");
  const levels = SCOPE_CATEGORIES.map((category) => [form.text(scopeFieldOf(category)), category]);
  const scopes = levels
    .filter(([level]) => level !== "" && level !== "none")
    .map(([level, of]) => `${level}:${of}`);
  if (form.isSet("public_only")) scopes.push("public-only");
  return {
    name,
    scopes,
    expiresAt: readLastDay(form),
    repositories: readLines(form, "repositories", BOUND_MAX),
    bindings: {
      refs: readLines(form, "refs", PATTERNS_MAX),
      paths: readLines(form, "paths", PATTERNS_MAX),
      packages: readLines(form, "packages", PATTERNS_MAX),
    },
  };
}

/** @returns The end of the day, in UTC and milliseconds; null for none. */
function readLastDay(form: SentForm): number | null {
  const day = form.text("expires_at");
  if (day === "") return null;
  const at = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T23:59:59Z`) : Number.NaN;
  if (Number.isNaN(at)) throw invalidField("expires_at", "must be a day");
  return at;
}

/** @returns The lines of a field with a text; null for none. */
function readLines(form: SentForm, name: string, countMax: number): string[] | null {
  const lines = form
    .text(name)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  if (lines.length > countMax) throw invalidField(name, `must have at most ${countMax} lines`);
  if (lines.some((line) => line.length > PATTERN_LENGTH_MAX)) {
    throw invalidField(name, `must have at most ${PATTERN_LENGTH_MAX} characters in a line`);
  }
  const wrong = lines.find((line) => name === "repositories" && !/^[^/]+\/[^/]+$/.test(line));
  if (wrong !== undefined) {
    throw invalidField(name, `must be of the form owner/name, unlike ${JSON.stringify(wrong)}`);
  }
  return lines.length === 0 ? null : lines;
}

interface TokensState {
  /** The secret of a token that was just made. */
  secret?: string;
  /** The form of a new token, as it was refused. */
  state?: FormState;
}

async function renderTokens(
  c: Context<WebEnv>,
  page: OwnPage,
  { secret, state }: TokensState = {},
) {
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await listAccessTokens(page.ctx, page.user, list);
  return renderSettings(
    c,
    page,
    { part: "tokens", status: state?.refusal?.status ?? 200 },
    <>
      {secret === undefined ? undefined : (
        <section class="card" aria-labelledby="secret" role="status">
          <h2 id="secret">Your new token</h2>
          <p>Copy it now. It is not shown again.</p>
          <p class="secret">{secret}</p>
          <CopyButton text={secret} />
        </section>
      )}
      <section class="card" aria-labelledby="tokens">
        <h2 id="tokens">Access tokens</h2>
        <p>
          Clients of the API, git and package registries send a token in place of your password.
        </p>
        {total === 0 ? <p>You have none.</p> : undefined}
        <ul class="list">
          {items.map((entry) => (
            <Token entry={entry} formToken={page.formToken} />
          ))}
        </ul>
        <Pager url={c.req.url} page={list} total={total} />
      </section>
      <NewToken formToken={page.formToken} state={state ?? FormState.fresh()} />
    </>,
  );
}

const Token = ({ entry, formToken }: { entry: AccessTokenEntry; formToken: string }) => {
  const { token } = entry;
  return (
    <li>
      <div class="grow">
        <div>{token.name}</div>
        <div class="soft">
          Made <Time at={token.createdAt} />
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
        <details>
          <summary>
            What it may do<span class="hidden">{`: ${token.name}`}</span>
          </summary>
          <ScopeWords scopes={readStoredScopes(token.scopes)} identity={[]} />
          <Bindings entry={entry} />
        </details>
      </div>
      <ConfirmMenu
        label="Delete"
        subject={token.name}
        action={`${PATH}/delete`}
        formToken={formToken}
        fields={{ id: String(token.id) }}
        button={`Delete ${token.name}`}
      >
        <p>Who uses it is refused from then on, and so are tokens that were made with it.</p>
      </ConfirmMenu>
    </li>
  );
};

/** What a token is bound to. */
function Bindings({ entry: { token, boundTo } }: { entry: AccessTokenEntry }) {
  const bindings: readonly (readonly [string, readonly string[] | null])[] = [
    ["Repositories", token.isBound ? boundTo : null],
    ["Refs that it changes", token.boundRefs],
    ["Paths that it changes", token.boundPaths],
    ["Packages", token.boundPackages],
  ];
  return (
    <dl>
      {bindings.map(([label, names]) =>
        names === null ? undefined : (
          <>
            <dt>{label}</dt>
            <dd>{names.length === 0 ? "none that is left" : <code>{names.join(", ")}</code>}</dd>
          </>
        ),
      )}
    </dl>
  );
}

function NewToken({ formToken, state }: { formToken: string; state: FormState }) {
  const { fault } = state.of("scopes");
  return (
    <section class="card form" aria-labelledby="new-token">
      <h2 id="new-token">New token</h2>
      <GeneralFault state={state} fields={FIELDS} />
      <Form action={PATH} formToken={formToken}>
        <Field label="Name" {...state.of("name")} autocomplete="off" maxlength={NAME_LENGTH_MAX} />
        <Field
          label="Last day"
          {...state.of("expires_at")}
          type="date"
          hint="In UTC. Without one, the token does not end."
          isOptional
        />
        <fieldset aria-describedby={fault === undefined ? undefined : "scopes-fault"}>
          <legend>What it may do</legend>
          <Fault id="scopes-fault" text={fault} />
          <div class="scopes">
            {SCOPE_CATEGORIES.map((category) => (
              <ScopeField category={category} value={state.of(scopeFieldOf(category)).value} />
            ))}
          </div>
          <CheckField state={state} label="Only what is public" name="public_only" />
        </fieldset>
        <fieldset>
          <legend>What it is bound to</legend>
          <p>With an empty field, it reaches all that you do.</p>
          <AreaField
            state={state}
            label="Repositories"
            name="repositories"
            hint="One in each line, as owner/name: no other repository is readable or writable."
            isOptional
          />
          <AreaField
            state={state}
            label="Refs"
            name="refs"
            hint="Patterns of the refs that it may create, update or delete: refs/heads/main, refs/tags/v*."
            isOptional
          />
          <AreaField
            state={state}
            label="Paths"
            name="paths"
            hint="Patterns of the files that it may change: docs/**, *.md."
            isOptional
          />
          <AreaField
            state={state}
            label="Packages"
            name="packages"
            hint="Patterns of packages, as owner/type/name: alice/npm/*."
            isOptional
          />
        </fieldset>
        <button type="submit" class="primary">
          Make token
        </button>
      </Form>
    </section>
  );
}
