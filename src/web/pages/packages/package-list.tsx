import type { Context } from "hono";

import type { PackageContext } from "../../../domain/packages/package/find-package.ts";
import { PACKAGE_TYPES } from "../../../db/schema/package-types.ts";
import type {
  PackageFilter,
  VersionOfPackage,
} from "../../../domain/packages/package/list-package-versions.ts";
import { packageHtmlUrlOf } from "../../../shapes/urls.ts";
import { accountPath, repositoryPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Icon } from "../icon.tsx";
import { readSearchText } from "../read-search-text.ts";

/** The filter of a list of packages that a query states by `q` and `type`. */
export function readPackageFilter(c: Context): PackageFilter {
  const text = readSearchText(c);
  const type = c.req.query("type") ?? "";
  return { text: text || undefined, type: type || undefined };
}

/** The form that searches a list of packages. */
export function PackageSearch({ path, filter }: { path: string; filter: PackageFilter }) {
  return (
    <form class="filters" action={path}>
      <input
        type="search"
        name="q"
        value={filter.text ?? ""}
        aria-label="Search packages"
        placeholder="Search"
      />
      <span class="pair">
        <label for="type">Format</label>
        <select id="type" name="type">
          <option value="">All</option>
          {PACKAGE_TYPES.map((type) => (
            <option value={type} selected={type === filter.type}>
              {type}
            </option>
          ))}
        </select>
      </span>
      <button type="submit">Search</button>
    </form>
  );
}

/** The path of a package, which leads to its newest version. */
export const packagePath = ({ row, owner }: PackageContext): string =>
  `${accountPath(owner.account)}/-/packages/${row.type}/${encodeURIComponent(row.name.toWellFormed())}`;

/** The path of the page of a version. */
export const versionPath = ({ pkg, version }: Pick<VersionOfPackage, "pkg" | "version">): string =>
  packageHtmlUrlOf(
    {
      owner: pkg.owner.account,
      type: pkg.row.type,
      name: pkg.row.name,
      version: version.version,
    },
    { rootUrl: "" },
  );

interface PackageListProps {
  versions: readonly VersionOfPackage[];
  now: number;
  empty: string;
}

/** Packages, each as its newest version. */
export function PackageList({ versions, now, empty }: PackageListProps) {
  if (versions.length === 0) return <p class="soft">{empty}</p>;
  return (
    <ul class="box commits">
      {versions.map((each) => (
        <li>
          <div class="grow">
            <Icon name="package" />
            <a href={versionPath(each)}>
              <strong>{each.pkg.row.name}</strong>
            </a>{" "}
            <span class="label">{each.pkg.row.type}</span>
            <div class="soft">
              {each.version.version}
              {", published "}
              <Ago at={each.version.createdAt} now={now} />
              {each.creator ? (
                <>
                  {" by "}
                  <a href={accountPath(each.creator)}>{each.creator.name}</a>
                </>
              ) : undefined}
              {each.pkg.repo ? (
                <>
                  {" in "}
                  <a href={repositoryPath(each.pkg.repo)}>{each.pkg.repo.row.name}</a>
                </>
              ) : undefined}
            </div>
          </div>
        </li>
      ))}
    </ul>
  );
}
