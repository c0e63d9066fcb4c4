import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import {
  LABEL_TEMPLATES,
  type LabelTemplateName,
} from "../../../domain/code/templates/label-templates.ts";
import { listGitignores } from "../../../domain/code/templates/gitignores.ts";
import { listLicenses } from "../../../domain/code/templates/licenses.ts";
import { generateRepository } from "../../../domain/exchange/generate/generate-repository.ts";
import { createRepository } from "../../../domain/repos/repository/create-repository.ts";
import {
  findCreationContext,
  listCreationOwners,
} from "../../../domain/repos/repository/find-creation-context.ts";
import { findRepositoryById } from "../../../domain/repos/repository/find-repository.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import { invalid, invalidField, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { WebEnv } from "../../env.ts";
import { repositoryPath } from "../addresses.ts";
import { type Form as SentForm, readForm } from "../form.ts";
import { Fault, Field, Form } from "../layout.tsx";
import { openOwnPage, type OwnPage } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { readId } from "../read-id.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { renderPage } from "../render-page.tsx";
import {
  CheckField,
  DESCRIPTION_CHARS_MAX,
  GeneralFault,
  NAME_CHARS_MAX,
  OwnerField,
  repositoryFieldOf,
  RepositoryVisibility,
  SelectField,
} from "./fields.tsx";
import { EXPIRY_FIELDS, ExpiryFields, readExpiry } from "./expiry-fields.tsx";
import { FormState } from "./form-state.ts";

const PATH = "/repo/create";

/** The page on which a repository is created, from nothing or from a template. */
export const repositoryCreation = new Hono<WebEnv>({ router: new TrieRouter() });

repositoryCreation.get(PATH, async (c) => {
  const page = await openOwnPage(c);
  const { org = "", owner = "", template_id: templateId = "" } = c.req.query();
  const [template, owners] = await Promise.all([
    findTemplate(page, templateId),
    listCreationOwners(page.ctx, page.user, owner),
  ]);
  // Gitea's addresses name an organization by its id.
  const chosen = owners.find(
    ({ id, name }) => String(id) === org || name.toLowerCase() === owner.toLowerCase(),
  );
  const state = FormState.fresh({ owner: chosen?.name ?? page.user.name });
  return renderCreation(c, page, { state, template, owners });
});

repositoryCreation.post(PATH, async (c) => {
  const form = await readForm(c);
  const page = await openOwnPage(c);
  const { ctx, user } = page;
  const template = await findTemplate(page, form.text("template_id"));
  return orRefuse(
    c,
    async () => {
      const creation = await findCreationContext(ctx, user, form.text("owner"));
      const repo = template
        ? await generateRepository(ctx, template, creation, toGeneration(form))
        : await createRepository(ctx, creation, toCreation(form));
      return redirectAfterWrite(c, repositoryPath(repo));
    },
    async (refusal) =>
      renderCreation(c, page, {
        state: FormState.refused(form, refusal),
        template,
        owners: await listCreationOwners(ctx, user, form.text("owner")),
      }),
    repositoryFieldOf,
  );
});

/**
 * The template of a form.
 *
 * @throws Failure `not_found` for a repository that is no template, or whose code the reader may
 * not read.
 */
async function findTemplate({ ctx }: OwnPage, id: string): Promise<RepositoryContext | undefined> {
  if (id === "") return undefined;
  const found = await findRepositoryById(ctx, readId(id));
  if (!found?.row.isTemplate || !isAllowed(found, { unit: "code", mode: "read" })) throw notFound();
  return found;
}

const isLabelTemplate = (name: string): name is LabelTemplateName =>
  LABEL_TEMPLATES.some((each) => each === name);

function toCreation(form: SentForm): Parameters<typeof createRepository>[2] {
  const labels = form.text("issue_labels");
  if (labels !== "" && !isLabelTemplate(labels)) {
    throw invalidField("issue_labels", "must be a set of labels");
  }
  const gitignores = form
    .namesWith(GITIGNORE)
    .map((name) => name.slice(GITIGNORE.length))
    .join(",");
  const license = form.text("license");
  return {
    name: form.line("name", NAME_CHARS_MAX),
    description: form.line("description", DESCRIPTION_CHARS_MAX),
    private: form.text("visibility") === "private",
    template: form.isSet("template"),
    default_branch: form.line("default_branch", NAME_CHARS_MAX),
    // Files need a first commit, whether or not a README is asked for.
    auto_init: form.isSet("auto_init") || gitignores !== "" || license !== "",
    gitignores,
    license,
    issue_labels: labels,
    expiry: readOptionalExpiry(form),
  };
}

/** The parts of a template that a new repository may take along. */
const ITEMS = {
  git_content: "Files of its default branch",
  topics: "Topics",
  labels: "Labels",
  avatar: "Avatar",
  webhooks: "Webhooks",
  protected_branch: "Rules of branches",
} as const;

function toGeneration(form: SentForm): Parameters<typeof generateRepository>[3] {
  if (!Object.keys(ITEMS).some((name) => form.isSet(name))) {
    throw invalid("Choose at least one part of the template.");
  }
  return {
    name: form.line("name", NAME_CHARS_MAX),
    description: form.line("description", DESCRIPTION_CHARS_MAX),
    isPrivate: form.text("visibility") === "private",
    defaultBranch: form.line("default_branch", NAME_CHARS_MAX),
    hasContent: form.isSet("git_content"),
    hasTopics: form.isSet("topics"),
    hasWebhooks: form.isSet("webhooks"),
    hasAvatar: form.isSet("avatar"),
    hasLabels: form.isSet("labels"),
    hasBranchRules: form.isSet("protected_branch"),
    expiry: readOptionalExpiry(form),
  };
}

const readOptionalExpiry = (form: SentForm) =>
  form.text("days").trim() === "" ? undefined : readExpiry(form);

/** The fields that show a refusal of their own. */
const FIELDS = [
  "owner",
  "name",
  "description",
  "default_branch",
  "gitignores",
  "license",
  "issue_labels",
  ...EXPIRY_FIELDS,
];

interface CreationProps {
  state: FormState;
  template: RepositoryContext | undefined;
  owners: Awaited<ReturnType<typeof listCreationOwners>>;
}

async function renderCreation(
  c: Context<WebEnv>,
  page: OwnPage,
  { state, template, owners }: CreationProps,
): Promise<Response> {
  const { ctx, formToken } = page;
  return renderPage(
    c,
    page,
    { title: "New Repository", status: state.refusal?.status ?? 200 },
    <section class="card form">
      <h1>New repository</h1>
      {template ? (
        <p>
          {"From the template "}
          <a href={repositoryPath(template)}>{`${template.owner.name}/${template.row.name}`}</a>
        </p>
      ) : (
        <p>
          {"Is it elsewhere already? "}
          <a href="/repo/migrate">Migrate it.</a>
        </p>
      )}
      <GeneralFault state={state} fields={FIELDS} />
      <Form action={PATH} formToken={formToken}>
        {template ? (
          <input type="hidden" name="template_id" value={String(template.row.id)} />
        ) : undefined}
        <OwnerField state={state} owners={owners} />
        <Field label="Name" {...state.of("name")} maxlength={NAME_CHARS_MAX} isFirst />
        <Field
          label="Description"
          {...state.of("description")}
          maxlength={DESCRIPTION_CHARS_MAX}
          isOptional
        />
        <RepositoryVisibility state={state} />
        {template ? <TemplateItems state={state} /> : await FirstContent({ state })}
        <Field
          label="Default branch"
          {...state.of("default_branch")}
          maxlength={NAME_CHARS_MAX}
          hint={`${template?.row.defaultBranch ?? ctx.config.defaultBranch}, if you leave it empty.`}
          isOptional
        />
        <details open={state.of("days").value !== ""}>
          <summary>It ends by itself</summary>
          <ExpiryFields state={state} isOptional />
        </details>
        <button type="submit" class="primary">
          Create repository
        </button>
      </Form>
    </section>,
  );
}

function TemplateItems({ state }: { state: FormState }) {
  return (
    <fieldset>
      <legend>Take along</legend>
      {Object.entries(ITEMS).map(([name, label]) => (
        <CheckField state={state} label={label} name={name} isSetAtFirst={name === "git_content"} />
      ))}
    </fieldset>
  );
}

/** What the names of the checkboxes of `.gitignore` templates begin with. */
const GITIGNORE = "gitignore-";

/** The choice of templates of which a `.gitignore` is made, closed unless one is chosen. */
function Gitignores({ state, names }: { state: FormState; names: readonly string[] }) {
  const { fault } = state.of("gitignores");
  const isOpen = fault !== undefined || names.some((name) => state.isSet(GITIGNORE + name, false));
  return (
    <fieldset>
      <legend>.gitignore</legend>
      <Fault id="gitignores-fault" text={fault} />
      <details open={isOpen}>
        <summary>Templates</summary>
        <div class="many">
          {names.map((name) => (
            <CheckField state={state} label={name} name={GITIGNORE + name} />
          ))}
        </div>
      </details>
    </fieldset>
  );
}

/** The choices of the first files and labels. */
async function FirstContent({ state }: { state: FormState }) {
  const [gitignores, licenses] = await Promise.all([listGitignores(), listLicenses()]);
  const none = ["", "None"] as const;
  const same = (name: string) => [name, name] as const;
  return (
    <>
      <fieldset>
        <legend>Options</legend>
        <CheckField state={state} label="Begin with a README" name="auto_init" />
        <CheckField state={state} label="It is a template for other repositories" name="template" />
      </fieldset>
      <Gitignores state={state} names={gitignores} />
      <SelectField
        state={state}
        label="License"
        name="license"
        options={[none, ...licenses.map(same)]}
      />
      <SelectField
        state={state}
        label="Labels of issues"
        name="issue_labels"
        options={[none, ...LABEL_TEMPLATES.map(same)]}
      />
    </>
  );
}
