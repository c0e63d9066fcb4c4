import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { FORGE_SERVICES, type ForgeService, type ProjectPart } from "../../../db/schema/index.ts";
import { type NewImport, startImport } from "../../../domain/exchange/imports/start-import.ts";
import { listCreationOwners } from "../../../domain/repos/repository/find-creation-context.ts";
import type { WebEnv } from "../../env.ts";
import { repositoryPath } from "../addresses.ts";
import { type Form as SentForm, readForm } from "../form.ts";
import { Field, Form, Notice } from "../layout.tsx";
import { openOwnPage, type OwnPage } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { renderPage } from "../render-page.tsx";
import {
  CheckField,
  DESCRIPTION_CHARS_MAX,
  GeneralFault,
  NAME_CHARS_MAX,
  OwnerField,
  RepositoryVisibility,
  SelectField,
} from "./fields.tsx";
import { FormState } from "./form-state.ts";

const PATH = "/repo/migrate";

/** Characters of the fields, as the API has them. */
const CHARS_MAX = { address: 4096, username: 255, secret: 4096, interval: 64 };

/** Services with their names, and the numbers that addresses of Gitea have for them. */
const SERVICES = {
  git: { label: "Git, from any address", number: "1" },
  github: { label: "GitHub", number: "2" },
  gitea: { label: "Gitea, Forgejo or Edgeforge", number: "3" },
  gitlab: { label: "GitLab", number: "4" },
  gogs: { label: "Gogs", number: "5" },
} as const satisfies Record<ForgeService, { label: string; number: string }>;

/** What is taken of a project on a forge, besides git. */
const PARTS = {
  labels: { label: "Labels", part: "labels" },
  milestones: { label: "Milestones", part: "milestones" },
  issues: { label: "Issues, with their comments", part: "issues" },
  pull_requests: { label: "Pull requests, with their reviews", part: "pulls" },
  releases: { label: "Releases, with their files", part: "releases" },
} as const satisfies Record<string, { label: string; part: ProjectPart }>;

/** The page on which a repository is taken over from elsewhere. */
export const migration = new Hono<WebEnv>({ router: new TrieRouter() });

migration.get(PATH, async (c) => {
  const page = await openOwnPage(c);
  const query = c.req.query();
  const owners = await listCreationOwners(page.ctx, page.user);
  const chosen = owners.find(({ id }) => String(id) === query["org"]);
  const service = FORGE_SERVICES.find((name) => SERVICES[name].number === query["service_type"]);
  const isNamed = Object.keys(PARTS).some((name) => query[name] !== undefined);
  const checked = ["mirror", "lfs", "wiki", ...Object.keys(PARTS)].filter(
    (name) => query[name] === "1" || (!isNamed && Object.hasOwn(PARTS, name)),
  );
  const state = FormState.fresh({
    owner: chosen?.name ?? page.user.name,
    service: service ?? "git",
    clone_addr: query["clone_addr"] ?? "",
    ...Object.fromEntries(checked.map((name) => [name, "on"])),
  });
  return showMigration(c, page, state, owners);
});

migration.post(PATH, async (c) => {
  const form = await readForm(c);
  const page = await openOwnPage(c);
  const { ctx, user } = page;
  return orRefuse(
    c,
    async () => redirectAfterWrite(c, repositoryPath(await startImport(ctx, user, toImport(form)))),
    async (refusal) =>
      showMigration(
        c,
        page,
        // Secrets are typed again.
        FormState.refused(form.with({ auth_token: "", auth_password: "" }), refusal),
        await listCreationOwners(ctx, user),
      ),
    fieldOf,
  );
});

function toImport(form: SentForm): NewImport {
  const parts = Object.entries(PARTS)
    .filter(([name]) => form.isSet(name))
    .map(([, { part }]) => part);
  const isMirror = form.isSet("mirror");
  return {
    cloneAddress: form.line("clone_addr", CHARS_MAX.address),
    name: form.line("repo_name", NAME_CHARS_MAX),
    ownerName: form.text("owner"),
    ownerId: 0,
    service: form.text("service"),
    username: form.line("auth_username", CHARS_MAX.username),
    password: form.line("auth_password", CHARS_MAX.secret),
    token: form.line("auth_token", CHARS_MAX.secret),
    isMirror,
    mirrorInterval: form.line("mirror_interval", CHARS_MAX.interval),
    mirrorParts: isMirror ? parts : [],
    isPrivate: form.text("visibility") === "private",
    description: form.line("description", DESCRIPTION_CHARS_MAX),
    withLargeFiles: form.isSet("lfs"),
    largeFilesUrl: form.line("lfs_endpoint", CHARS_MAX.address),
    withWiki: form.isSet("wiki"),
    parts,
    authors: {},
  };
}

/** Fields by what the refusals of migrations say, where these name no field. */
const FIELDS_BY_WORDS: readonly (readonly [RegExp, string])[] = [
  [/owner|limit|organization|user does not exist/i, "owner"],
  [/same name|already exists/i, "repo_name"],
  [/LFS/, "lfs_endpoint"],
  [/interval|duration/i, "mirror_interval"],
  [/authentication|credentials/i, "auth_username"],
  [/url|host|import|migration|remote/i, "clone_addr"],
];

const fieldOf = (message: string): string | undefined =>
  FIELDS_BY_WORDS.find(([pattern]) => pattern.test(message))?.[1];

/** The fields that show a refusal of their own. */
const FIELDS = [
  "clone_addr",
  "service",
  "auth_username",
  "auth_password",
  "auth_token",
  "owner",
  "repo_name",
  "description",
  "mirror_interval",
  "lfs_endpoint",
];

async function showMigration(
  c: Context<WebEnv>,
  page: OwnPage,
  state: FormState,
  owners: Awaited<ReturnType<typeof listCreationOwners>>,
): Promise<Response> {
  const { ctx, formToken } = page;
  const { areMigrationsDisabled } = ctx.config;
  return renderPage(
    c,
    page,
    { title: "New Migration", status: state.refusal?.status ?? 200 },
    <section class="card form">
      <h1>Migrate a repository</h1>
      <p>
        The repository is there at once, and fills while you do something else: its page says how
        far it is.
      </p>
      {areMigrationsDisabled ? (
        <Notice kind="error">The administrators of the service have disabled migrations.</Notice>
      ) : undefined}
      <GeneralFault state={state} fields={FIELDS} />
      <Form action={PATH} formToken={formToken}>
        <SelectField
          state={state}
          label="From"
          name="service"
          options={FORGE_SERVICES.map((name) => [name, SERVICES[name].label])}
          hint="Of git alone, only code, branches and tags come."
        />
        <Field
          label="Address"
          {...state.of("clone_addr")}
          hint="Of the project, or of its git repository, by HTTP or HTTPS."
          maxlength={CHARS_MAX.address}
          isFirst
        />
        <details open={isRefusedIn(state, "auth_")}>
          <summary>Sign in there</summary>
          <Field
            label="Token"
            {...state.of("auth_token")}
            type="password"
            autocomplete="off"
            hint="In place of a name and a password."
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
            {...state.of("auth_password")}
            type="password"
            autocomplete="off"
            maxlength={CHARS_MAX.secret}
            isOptional
          />
        </details>
        <fieldset>
          <legend>Take along, where the service has it</legend>
          {Object.entries(PARTS).map(([name, { label }]) => (
            <CheckField
              state={state}
              label={label}
              name={name}
              isSetAtFirst={state.of(name).value !== ""}
            />
          ))}
          {MORE.map(([name, label]) => (
            <CheckField
              state={state}
              label={label}
              name={name}
              isSetAtFirst={state.of(name).value !== ""}
            />
          ))}
        </fieldset>
        <details open={isRefusedIn(state, "lfs_") || isRefusedIn(state, "mirror_")}>
          <summary>Mirrors and large files</summary>
          <CheckField
            state={state}
            label="Follow the repository from then on, as a mirror that is only read here"
            name="mirror"
            isSetAtFirst={state.of("mirror").value !== ""}
          />
          <Field
            label="Interval of the mirror"
            {...state.of("mirror_interval")}
            hint="Such as 8h0m0s; 0 for none."
            maxlength={CHARS_MAX.interval}
            isOptional
          />
          <Field
            label="Address of Git LFS"
            {...state.of("lfs_endpoint")}
            hint="If it is not that of the repository."
            maxlength={CHARS_MAX.address}
            isOptional
          />
        </details>
        <OwnerField state={state} owners={owners} />
        <Field label="Name" {...state.of("repo_name")} maxlength={NAME_CHARS_MAX} />
        <Field
          label="Description"
          {...state.of("description")}
          hint="That of the project, if you leave it empty."
          maxlength={DESCRIPTION_CHARS_MAX}
          isOptional
        />
        <RepositoryVisibility state={state} />
        <button type="submit" class="primary">
          Migrate
        </button>
      </Form>
    </section>,
  );
}

/** What is taken besides the parts of a project. */
const MORE = [
  ["wiki", "Wiki"],
  ["lfs", "Large files of Git LFS"],
] as const;

/** Whether a group of fields, which is folded at first, shows a refusal. */
const isRefusedIn = ({ refusal }: FormState, beginning: string): boolean =>
  refusal?.field?.startsWith(beginning) ?? false;
