import { type Context, Hono } from "hono";

import { ACCESS } from "../../../db/schema/index.ts";
import { findFileOfVersion } from "../../../domain/packages/package/find-file.ts";
import { findVersionDetails } from "../../../domain/packages/package/find-version-details.ts";
import { listPackageFiles } from "../../../domain/packages/package/list-package-files.ts";
import {
  findVersionEntry,
  listLinkedPackages,
  listNewestVersions,
  listVersionsOf,
} from "../../../domain/packages/package/list-package-versions.ts";
import { answerPackageFile } from "../../../entrance/answer-package-file.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { enterAccountPage } from "../account/enter.ts";
import { renderAccount } from "../account/frame.tsx";
import { accountPath, repositoryPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { readId } from "../read-id.ts";
import { renderPage } from "../render-page.tsx";
import { enterRepositoryPage } from "../repository/enter.ts";
import { READ_PACKAGES, renderRepository } from "../repository/frame.tsx";
import { enterPackagePage } from "./enter.ts";
import { PackageHead, Version } from "./package-page.tsx";
import { PackageList, PackageSearch, readPackageFilter, versionPath } from "./package-list.tsx";

const PAGE_SIZE = 20;
/** Files and versions that the page of a version shows. */
const FILES_MAX = 200;
const VERSIONS_MAX = 10;

/** The pages of packages. */
export const packagePages = new Hono<WebEnv>();

packagePages.get("/:name/-/packages", async (c) => {
  const page = await enterAccountPage(c);
  const { ctx, account, owner } = page;
  if (!ctx.config.packages.isOn || owner.access === ACCESS.none) throw notFound();
  const list = readListPage(c, PAGE_SIZE);
  const filter = readPackageFilter(c);
  const { items, total } = await listNewestVersions(ctx, owner, filter, list);
  return renderAccount(
    c,
    page,
    { tab: "packages", title: `Packages - ${account.name}` },
    <>
      <PackageSearch path={`${accountPath(account)}/-/packages`} filter={filter} />
      <PackageList versions={items} now={ctx.now} empty="No package was found." />
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

const PACKAGE = "/:name/-/packages/:type/:pkg";

packagePages.get(PACKAGE, async (c) => {
  const { ctx, pkg } = await enterPackagePage(c);
  const newest = await findVersionEntry(ctx, pkg);
  if (!newest) throw notFound();
  return c.redirect(versionPath(newest), 303);
});

packagePages.get(`${PACKAGE}/versions`, async (c) => {
  const page = await enterPackagePage(c);
  const { ctx, pkg } = page;
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await listVersionsOf(ctx, pkg, list);
  return renderPage(
    c,
    page,
    { title: `${pkg.row.name} - Packages`, isPublic: isPublic(pkg) },
    <>
      <PackageHead pkg={pkg} />
      <h2>{`${total} version${total === 1 ? "" : "s"}`}</h2>
      <ul class="box commits">
        {items.map((each) => (
          <li>
            <a class="grow" href={versionPath(each)}>
              {each.version.version}
            </a>
            <span class="soft">
              <Ago at={each.version.createdAt} now={ctx.now} />
            </span>
          </li>
        ))}
      </ul>
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

packagePages.get(`${PACKAGE}/:version`, async (c) => {
  const page = await enterPackagePage(c);
  const { ctx, pkg } = page;
  const name = c.req.param("version");
  const [details, files, versions] = await Promise.all([
    findVersionDetails(ctx, pkg, name),
    listPackageFiles(ctx, pkg, name, { size: FILES_MAX, offset: 0 }),
    listVersionsOf(ctx, pkg, { size: VERSIONS_MAX, offset: 0 }),
  ]);
  if (!details) throw notFound();
  return renderPage(
    c,
    page,
    {
      title: `${pkg.row.name} ${details.version.version} - Packages`,
      isPublic: isPublic(pkg),
    },
    <>
      <PackageHead pkg={pkg} />
      <Version page={page} details={details} files={files} versions={versions} />
    </>,
  );
});

packagePages.get(`${PACKAGE}/:version/files/:id`, async (c: Context<WebEnv>) => {
  const { ctx, pkg } = await enterPackagePage(c);
  const { version = "", id = "" } = c.req.param() as Record<string, string>;
  const found = await findFileOfVersion(ctx, pkg, version, readId(id));
  if (!found) throw notFound();
  return answerPackageFile(c.req.raw, ctx, found);
});

packagePages.get("/:owner/:repo/packages", async (c) => {
  const page = await enterRepositoryPage(c, READ_PACKAGES);
  const { ctx, repo } = page;
  if (!ctx.config.packages.isOn) throw notFound();
  const list = readListPage(c, PAGE_SIZE);
  const filter = readPackageFilter(c);
  const { items, total } = await listLinkedPackages(ctx, repo, filter, list);
  return renderRepository(
    c,
    page,
    { tab: "packages", title: `Packages - ${repo.owner.name}/${repo.row.name}` },
    <>
      <h2 class="hidden">Packages</h2>
      <PackageSearch path={`${repositoryPath(repo)}/packages`} filter={filter} />
      <PackageList
        versions={items}
        now={ctx.now}
        empty="No package is linked to this repository."
      />
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

/** Whether everybody may see a package. */
const isPublic = ({ owner, repo, row }: Awaited<ReturnType<typeof enterPackagePage>>["pkg"]) =>
  owner.account.visibility === "public" &&
  !row.isRestricted &&
  (repo === undefined || repo.row.visibility === "public");
