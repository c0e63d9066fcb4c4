import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { Visibility } from "../../../db/schema/index.ts";
import { listSitePackages } from "../../../domain/operations/administration/list-site-packages.ts";
import { listAllEmails } from "../../../domain/people/accounts/list-all-emails.ts";
import { listOrganizations } from "../../../domain/people/orgs/list-organizations.ts";
import { ALL_REPOSITORIES } from "../../../domain/repos/repository/repository-query.ts";
import { requestCollection } from "../../../domain/repos/repository/request-collection.ts";
import { searchRepositories } from "../../../domain/repos/repository/search-repositories.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath, repositoryPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { ConfirmMenu } from "../confirm-menu.tsx";
import { FormState } from "../create/form-state.ts";
import { Count } from "../count.tsx";
import { formatBytes } from "../format-bytes.ts";
import { Field } from "../layout.tsx";
import type { OwnPage } from "../open-page.ts";
import { Pager, readListPage } from "../pager.tsx";
import { readSearchText } from "../read-search-text.ts";
import { Time } from "../time.tsx";
import { ADMIN_PATH, changeAsAdmin, renderAdmin } from "./admin-page.tsx";
import { openAdminPage } from "../open-admin-page.ts";
import { SearchForm } from "./search-form.tsx";

const PAGE_SIZE = 50;
const GRACE_DAYS_MAX = 36_500;

/** Lists of what there is on the service: addresses, organizations, repositories, packages. */
export const lists = new Hono<WebEnv>({ router: new TrieRouter() });

lists.get(`${ADMIN_PATH}/emails`, async (c) => {
  const page = await openAdminPage(c);
  const list = readListPage(c, PAGE_SIZE);
  const text = readSearchText(c);
  const { items, total } = await listAllEmails(page.ctx, text, list);
  return renderAdmin(
    c,
    page,
    { part: "emails" },
    <section class="card" aria-labelledby="emails">
      <h2 id="emails">
        E-mail addresses{" "}
        <span class="label">
          <Count of={total} />
        </span>
      </h2>
      <SearchForm
        path={`${ADMIN_PATH}/emails`}
        label="A part of the address or of the user's name"
        text={text}
      />
      <div class="scroll" tabindex={0} role="region" aria-label="Addresses">
        <table class="rows">
          <thead>
            <tr>
              <th>Address</th>
              <th>User</th>
              <th>State</th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ address, username }) => (
              <tr>
                <th scope="row">{address.email}</th>
                <td>
                  <a href={`${ADMIN_PATH}/users/${address.userId}`}>{username}</a>
                </td>
                <td>
                  {[
                    ...(address.isPrimary ? ["primary"] : []),
                    address.isActivated ? "confirmed" : "not confirmed",
                  ].join(", ")}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Pager url={c.req.url} page={list} total={total} />
    </section>,
  );
});

const VISIBILITY_WORDS: Readonly<Record<Visibility, string>> = {
  public: "Public",
  limited: "Limited",
  private: "Private",
};

lists.get(`${ADMIN_PATH}/orgs`, async (c) => {
  const page = await openAdminPage(c);
  const list = readListPage(c, PAGE_SIZE);
  const text = readSearchText(c);
  const { items, total } = await listOrganizations(page.ctx, list, text);
  return renderAdmin(
    c,
    page,
    { part: "orgs" },
    <section class="card" aria-labelledby="orgs">
      <h2 id="orgs">
        Organizations{" "}
        <span class="label">
          <Count of={total} />
        </span>
      </h2>
      <SearchForm path={`${ADMIN_PATH}/orgs`} label="Beginning of a name" text={text} />
      <div class="scroll" tabindex={0} role="region" aria-label="Organizations">
        <table class="rows">
          <thead>
            <tr>
              <th>Name</th>
              <th>Full name</th>
              <th>Visibility</th>
              <th>Created</th>
            </tr>
          </thead>
          <tbody>
            {items.map((org) => (
              <tr>
                <th scope="row">
                  <a href={accountPath(org)}>{org.name}</a>
                </th>
                <td>{org.fullName}</td>
                <td>{VISIBILITY_WORDS[org.visibility]}</td>
                <td>
                  <Time at={org.createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Pager url={c.req.url} page={list} total={total} />
      <a class="button" href="/org/create">
        New organization
      </a>
    </section>,
  );
});

const REPOSITORIES_PATH = `${ADMIN_PATH}/repos`;

/** The orders of repositories that administrators look for. */
const ORDERS = {
  updated: "Last changed",
  created: "Newest",
  size: "Largest",
  alpha: "Name",
} as const;

lists.get(REPOSITORIES_PATH, async (c) => renderRepositories(c, await openAdminPage(c)));

lists.post(`${REPOSITORIES_PATH}/gc`, (c) =>
  changeAsAdmin(
    c,
    async ({ ctx }, form) => {
      const days = form.text("grace_days").trim();
      const isCount = days === "" || (/^\d{1,5}$/.test(days) && Number(days) <= GRACE_DAYS_MAX);
      if (!isCount) throw invalidField("grace_days", `must be from 0 to ${GRACE_DAYS_MAX}`);
      const [owner = "", name = ""] = form.text("repository").split("/");
      await requestCollection(ctx, owner, name, days === "" ? undefined : Number(days));
      return `${REPOSITORIES_PATH}?q=${encodeURIComponent(name)}&collected=${encodeURIComponent(name)}`;
    },
    (page, state) => renderRepositories(c, page, state),
  ),
);

async function renderRepositories(
  c: Context<WebEnv>,
  page: OwnPage,
  state = FormState.fresh(),
): Promise<Response> {
  const list = readListPage(c, PAGE_SIZE);
  const text = readSearchText(c);
  const requested = c.req.query("sort") ?? "";
  const sort = Object.hasOwn(ORDERS, requested) ? (requested as keyof typeof ORDERS) : "updated";
  const query = { ...ALL_REPOSITORIES, text, sort, isDescending: sort !== "alpha" };
  const { items, total } = await searchRepositories(page.ctx, query, list);
  const collected = items.find(({ row }) => row.name === c.req.query("collected"));
  return renderAdmin(
    c,
    page,
    {
      part: "repos",
      refusal: state.refusal,
      done: collected && `The search for unreachable objects of ${collected.row.name} is queued.`,
    },
    <section class="card" aria-labelledby="repos">
      <h2 id="repos">
        Repositories{" "}
        <span class="label">
          <Count of={total} />
        </span>
      </h2>
      <SearchForm path={REPOSITORIES_PATH} label="A part of the name" text={text}>
        <span class="pair">
          <label for="sort">Order</label>
          <select id="sort" name="sort">
            {Object.entries(ORDERS).map(([name, label]) => (
              <option value={name} selected={name === sort}>
                {label}
              </option>
            ))}
          </select>
        </span>
      </SearchForm>
      <ul class="list">
        {items.map((repo) => {
          const name = `${repo.owner.name}/${repo.row.name}`;
          return (
            <li>
              <div class="grow">
                <a href={repositoryPath(repo)}>{name}</a>{" "}
                {repo.row.isPrivate ? <span class="label">Private</span> : undefined}{" "}
                {repo.row.archivedAt === null ? undefined : <span class="label">Archived</span>}
                <div class="soft">
                  {`${formatBytes(repo.row.sizeBytes)} of git, ${formatBytes(repo.row.lfsSizeBytes)} of large files, changed `}
                  <Ago at={repo.row.updatedAt} now={page.ctx.now} />
                </div>
              </div>
              <ConfirmMenu
                label="Collect"
                subject={`objects of ${name}`}
                action={`${REPOSITORIES_PATH}/gc`}
                formToken={page.formToken}
                fields={{ repository: name }}
                button="Remove what nothing reaches"
              >
                <Field
                  label="Days that objects stay"
                  name="grace_days"
                  id={`grace-${repo.row.id}`}
                  inputmode="numeric"
                  hint="Since a ref reached them; empty for the setting of the service, 0 for none."
                  isOptional
                />
              </ConfirmMenu>
            </li>
          );
        })}
      </ul>
      <Pager url={c.req.url} page={list} total={total} />
    </section>,
  );
}

lists.get(`${ADMIN_PATH}/packages`, async (c) => {
  const page = await openAdminPage(c);
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await listSitePackages(page.ctx, list);
  return renderAdmin(
    c,
    page,
    { part: "packages" },
    <section class="card" aria-labelledby="packages">
      <h2 id="packages">
        Packages{" "}
        <span class="label">
          <Count of={total} />
        </span>
      </h2>
      <div class="scroll" tabindex={0} role="region" aria-label="Packages">
        <table class="rows">
          <thead>
            <tr>
              <th>Package</th>
              <th>Format</th>
              <th>Owner</th>
              <th>Repository</th>
              <th>Created</th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ pkg, owner, repository }) => (
              <tr>
                <th scope="row">
                  <a href={`/${owner}/-/packages/${pkg.type}/${encodeURIComponent(pkg.name)}`}>
                    {pkg.name}
                  </a>
                </th>
                <td>{pkg.type}</td>
                <td>
                  <a href={`/${owner}`}>{owner}</a>
                </td>
                <td>
                  {repository === null ? undefined : (
                    <a href={`/${owner}/${repository}`}>{repository}</a>
                  )}
                </td>
                <td>
                  <Time at={pkg.createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Pager url={c.req.url} page={list} total={total} />
    </section>,
  );
});
