import { type Context, Hono } from "hono";

import { deletePackage } from "../../../domain/packages/package/delete-package.ts";
import { deleteVersion } from "../../../domain/packages/package/delete-version.ts";
import { linkPackage, unlinkPackage } from "../../../domain/packages/package/link-package.ts";
import {
  findVersionEntry,
  type VersionOfPackage,
} from "../../../domain/packages/package/list-package-versions.ts";
import { Failure, invalidField, notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath, repositoryPath } from "../addresses.ts";
import { FormState } from "../create/form-state.ts";
import { GeneralFault, NAME_CHARS_MAX } from "../create/fields.tsx";
import { type Form as SentForm, readForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { requireOwn } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { renderPage } from "../render-page.tsx";
import { enterPackagePage, type PackagePage } from "./enter.ts";
import { packagePath, versionPath } from "./package-list.tsx";
import { PackageHead } from "./package-page.tsx";

/** The pages on which a package is linked and deleted. */
export const packageSettings = new Hono<WebEnv>();

const SETTINGS = "/:name/-/packages/:type/:pkg/:version/settings";

/** Enters a package that the reader may change, at a version. */
async function enterToChange(
  c: Context<WebEnv>,
): Promise<{ page: PackagePage; found: VersionOfPackage }> {
  const page = await enterPackagePage(c, "write");
  requireOwn(c, page);
  const found = await findVersionEntry(page.ctx, page.pkg, c.req.param("version") ?? "");
  if (!found) throw notFound();
  return { page, found };
}

packageSettings.get(SETTINGS, async (c) => {
  const { page, found } = await enterToChange(c);
  return showSettings(c, page, found, FormState.fresh());
});

packageSettings.post(SETTINGS, async (c) => {
  const { page, found } = await enterToChange(c);
  const form = await readForm(c);
  const action = form.text("action");
  if (!isAction(action)) throw notFound();
  return orRefuse(
    c,
    async () => redirectAfterWrite(c, await ACTIONS[action](page, found, form)),
    (refusal) => showSettings(c, page, found, FormState.refused(form, refusal)),
  );
});

/** Changes a package. @returns The path of the page that shows it. */
type Action = (page: PackagePage, found: VersionOfPackage, form: SentForm) => Promise<string>;

const listPath = ({ pkg }: PackagePage): string => `${accountPath(pkg.owner.account)}/-/packages`;

const ACTIONS = {
  async link({ ctx, pkg }, found, form) {
    const name = form.line("repo_name", NAME_CHARS_MAX);
    const isLinked = pkg.repo?.row.lowerName === name.toLowerCase();
    if (!isLinked) await linkPackage(ctx, pkg, name).catch(rewordUnknown);
    return `${versionPath(found)}/settings`;
  },
  async unlink({ ctx, pkg }, found) {
    if (pkg.repo) await unlinkPackage(ctx, pkg);
    return `${versionPath(found)}/settings`;
  },
  async delete_version(page, { version }) {
    await deleteVersion(page.ctx, page.pkg, version);
    return listPath(page);
  },
  async delete_package(page, _, form) {
    const { ctx, pkg } = page;
    if (form.text("package_name").trim() !== pkg.row.name) {
      throw invalidField("package_name", "must be the name of the package");
    }
    await deletePackage(ctx, pkg);
    return listPath(page);
  },
} satisfies Record<string, Action>;

const isAction = (name: string): name is keyof typeof ACTIONS => Object.hasOwn(ACTIONS, name);

function rewordUnknown(error: unknown): never {
  if (!(error instanceof Failure) || error.kind !== "not_found") throw error;
  throw invalidField("repo_name", "must be that of a repository of the same owner");
}

function showSettings(
  c: Context<WebEnv>,
  page: PackagePage,
  found: VersionOfPackage,
  state: FormState,
): Promise<Response> {
  const { pkg, formToken } = page;
  const { version } = found.version;
  const action = `${versionPath(found)}/settings`;
  return renderPage(
    c,
    page,
    { title: `Settings of ${pkg.row.name} - Packages`, status: state.refusal?.status ?? 200 },
    <>
      <PackageHead pkg={pkg} />
      <h2>
        {"Settings of "}
        <a href={versionPath(found)}>{version}</a>
      </h2>
      <GeneralFault state={state} fields={["repo_name", "package_name"]} />
      <section class="card form" aria-labelledby="repository">
        <h3 id="repository">Repository</h3>
        <LinkForm page={page} action={action} state={state} />
      </section>
      <section class="card form" aria-labelledby="deletion">
        <h3 id="deletion">Deletion</h3>
        <p>What is deleted can't be restored, and who depends on it can't install it any more.</p>
        <details class="menu">
          <summary class="button">Delete this version</summary>
          <div class="menu-body">
            <p>The package goes with its last version.</p>
            <Form action={action} formToken={formToken}>
              <input type="hidden" name="action" value="delete_version" />
              <button type="submit" class="danger">{`Delete ${version}`}</button>
            </Form>
          </div>
        </details>
        <h4>All versions</h4>
        <Form action={action} formToken={formToken}>
          <input type="hidden" name="action" value="delete_package" />
          <Field
            label="Name of the package"
            {...state.of("package_name")}
            autocomplete="off"
            hint={`${pkg.row.name}, so that nothing is deleted by mistake.`}
          />
          <button type="submit" class="danger">
            Delete the package
          </button>
        </Form>
      </section>
      <p>
        <a href={`${packagePath(pkg)}/versions`}>All versions</a>
      </p>
    </>,
  );
}

interface LinkFormProps {
  page: PackagePage;
  action: string;
  state: FormState;
}

function LinkForm({ page: { pkg, formToken }, action, state }: LinkFormProps) {
  const { repo, owner } = pkg;
  if (repo) {
    const name = `${repo.owner.name}/${repo.row.name}`;
    return (
      <>
        <p>
          {"Those see the package who see "}
          <a href={repositoryPath(repo)}>{name}</a>.
        </p>
        <Form action={action} formToken={formToken}>
          <input type="hidden" name="action" value="unlink" />
          <button type="submit">{`Unlink ${name}`}</button>
        </Form>
      </>
    );
  }
  return (
    <Form action={action} formToken={formToken}>
      <input type="hidden" name="action" value="link" />
      <Field
        label={`A repository of ${owner.account.name}`}
        {...state.of("repo_name")}
        maxlength={NAME_CHARS_MAX}
        hint="From then on those see the package who see the repository."
      />
      <button type="submit">Link</button>
    </Form>
  );
}
