import { type Context, Hono } from "hono";

import type { Requirement } from "../../../auth/access/requirement.ts";
import type { Import, ImportStage, ImportState } from "../../../db/schema/index.ts";
import { cancelImport } from "../../../domain/exchange/imports/cancel-import.ts";
import { continueImport } from "../../../domain/exchange/imports/continue-import.ts";
import { findImport } from "../../../domain/exchange/imports/find-import.ts";
import { toMigration } from "../../../shapes/repos/migration.ts";
import type { WebEnv } from "../../env.ts";
import { repositoryPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { FormState } from "../create/form-state.ts";
import { type Form as SentForm, readForm } from "../form.ts";
import { Field, Form, Notice } from "../layout.tsx";
import { requireCookie, requireOwn } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { enterRepositoryPage, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";

/** As of the API's operations. */
const ADMINISTER: Requirement = { mode: "admin" };

const CHARS_MAX = { username: 255, secret: 4096 };

/** How often a page of a running migration loads itself again, in seconds. */
const REFRESH_SECONDS = 5;

/** The page of a repository's migration: how far it is, and the forms that end it or go on. */
export const migrationState = new Hono<WebEnv>();

const PATH = "/:owner/:repo/-/migrate";

async function enter(c: Context<WebEnv>) {
  requireCookie(c);
  const page = await enterRepositoryPage(c, ADMINISTER, ["write:repository"], {
    whileMigrating: true,
  });
  return { ...page, ...requireOwn(c, page) };
}

migrationState.get(`${PATH}/status`, async (c) => showState(c, await enter(c), FormState.fresh()));

migrationState.post(`${PATH}/cancel`, (c) => change(c, ({ ctx, repo }) => cancelImport(ctx, repo)));

migrationState.post(`${PATH}/retry`, (c) =>
  change(c, ({ ctx, repo, user }, form) =>
    continueImport(ctx, repo, user, {
      username: form.line("auth_username", CHARS_MAX.username),
      password: form.line("auth_password", CHARS_MAX.secret),
      token: form.line("auth_token", CHARS_MAX.secret),
    }),
  ),
);

type StatePage = Awaited<ReturnType<typeof enter>>;

async function change(
  c: Context<WebEnv>,
  work: (page: StatePage, form: SentForm) => Promise<Import>,
): Promise<Response> {
  const page = await enter(c);
  const form = await readForm(c);
  return orRefuse(
    c,
    async () => {
      await work(page, form);
      return redirectAfterWrite(c, statePath(page));
    },
    (refusal) => showState(c, page, FormState.refused(form, refusal)),
  );
}

/** The path of this page. */
const statePath = ({ repo }: Pick<EnteredRepository, "repo">): string =>
  `${repositoryPath(repo)}/-/migrate/status`;

const STATE_WORDS: Readonly<Record<ImportState, string>> = {
  running: "It is running.",
  waiting: "It waits for the other side, and goes on by itself.",
  failed: "It has failed. It goes on where it ended, if you continue it.",
  cancelled: "It was cancelled. What has come stays here.",
  done: "It is done.",
};

const STAGE_WORDS: Readonly<Record<ImportStage, string>> = {
  git: "Code",
  large_files: "Large files",
  project: "The project",
  labels: "Labels",
  milestones: "Milestones",
  issues: "Issues",
  pulls: "Pull requests",
  comments: "Comments",
  reviews: "Reviews",
  releases: "Releases",
  assets: "Files of releases",
  finish: "The rest",
};

async function showState(c: Context<WebEnv>, page: StatePage, state: FormState): Promise<Response> {
  const { ctx, repo } = page;
  const row = await findImport(ctx, repo);
  const shown = toMigration(row);
  const isGoing = row.state === "running" || row.state === "waiting";
  // Browsers load the page again with scripts and without.
  if (isGoing && !state.refusal) c.header("Refresh", String(REFRESH_SECONDS));
  return renderRepository(
    c,
    page,
    {
      tab: "code",
      title: `Migration - ${repo.owner.name}/${repo.row.name}`,
      status: state.refusal?.status ?? 200,
    },
    <section class="card form">
      <h2>Migration</h2>
      {state.refusal ? <Notice kind="error">{state.refusal.text}</Notice> : undefined}
      <p role="status">
        {shown.clone_addr === "" ? "From an export. " : `From ${shown.clone_addr}. `}
        {STATE_WORDS[row.state]}
        {isGoing
          ? ` This page is loaded again every ${REFRESH_SECONDS} seconds; you can leave it.`
          : ""}
      </p>
      {shown.last_error === "" ? undefined : <Notice kind="error">{shown.last_error}</Notice>}
      {row.state === "waiting" && row.dueAt !== null ? (
        <p>
          The next attempt is <Ago at={row.dueAt} now={ctx.now} />.
        </p>
      ) : undefined}
      <ul class="stages">
        {shown.stages.map(({ name, done, total }) => (
          <li>
            <span>{STAGE_WORDS[name]}</span>{" "}
            {total === null ? undefined : (
              <progress value={done} max={Math.max(total, 1)} aria-label={STAGE_WORDS[name]} />
            )}{" "}
            <span class="soft">{total === null ? done : `${done} of ${total}`}</span>
            {name === row.stage && isGoing ? <span class="soft"> (now)</span> : undefined}
          </li>
        ))}
      </ul>
      {shown.notes.length === 0 ? undefined : (
        <details>
          <summary>{`Notes (${shown.notes.length})`}</summary>
          <ul>
            {shown.notes.map((note) => (
              <li>{note}</li>
            ))}
          </ul>
        </details>
      )}
      <StateForms page={page} row={row} state={state} />
    </section>,
  );
}

interface StateFormsProps {
  page: StatePage;
  row: Import;
  state: FormState;
}

function StateForms({ page: { repo, formToken }, row, state }: StateFormsProps) {
  const path = `${repositoryPath(repo)}/-/migrate`;
  const isGoing = row.state === "running" || row.state === "waiting";
  return (
    <>
      {row.state === "running" ? undefined : (
        <Form action={`${path}/retry`} formToken={formToken}>
          {isGoing || row.address === "" ? undefined : (
            <details>
              <summary>Sign in there in another way</summary>
              <Field
                label="Token"
                name="auth_token"
                type="password"
                autocomplete="off"
                maxlength={CHARS_MAX.secret}
                isOptional
              />
              <Field
                label="User name"
                {...state.of("auth_username")}
                autocomplete="off"
                maxlength={CHARS_MAX.username}
                isOptional
              />
              <Field
                label="Password"
                name="auth_password"
                type="password"
                autocomplete="off"
                maxlength={CHARS_MAX.secret}
                isOptional
              />
            </details>
          )}
          <button type="submit" class="primary">
            {row.state === "done" ? "Take what is new there" : "Continue"}
          </button>
        </Form>
      )}
      {isGoing ? (
        <details class="menu">
          <summary class="button">Cancel</summary>
          <div class="menu-body">
            <p>What has come stays; you can continue it later.</p>
            <Form action={`${path}/cancel`} formToken={formToken}>
              <button type="submit" class="danger">
                Cancel the migration
              </button>
            </Form>
          </div>
        </details>
      ) : undefined}
    </>
  );
}
