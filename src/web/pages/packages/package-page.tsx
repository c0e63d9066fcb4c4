import type { PackageContext } from "../../../domain/packages/package/find-package.ts";
import type { VersionDetails } from "../../../domain/packages/package/find-version-details.ts";
import type { VersionOfPackage } from "../../../domain/packages/package/list-package-versions.ts";
import type { Listed } from "../../../domain/slice.ts";
import type { PackageFileEntry } from "../../../shapes/packages/package-file.ts";
import { accountPath, repositoryPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { formatBytes } from "../format-bytes.ts";
import { Icon } from "../icon.tsx";
import { describeMetadata } from "./describe-metadata.ts";
import { canChangePackage, type PackagePage } from "./enter.ts";
import { installationOf } from "./installation.ts";
import { packagePath, versionPath } from "./package-list.tsx";

/** The name of a package, below its owner's. */
export function PackageHead({ pkg }: { pkg: PackageContext }) {
  const { row, owner } = pkg;
  const path = accountPath(owner.account);
  return (
    <div class="repo-head">
      <h1 class="repo-name">
        <Icon name="package" />
        <a href={path}>{owner.account.name}</a>
        <span aria-hidden="true">/</span>
        <a href={`${path}/-/packages`}>Packages</a>
        <span aria-hidden="true">/</span>
        <a href={packagePath(pkg)}>
          <strong>{row.name}</strong>
        </a>
        <span class="label">{row.type}</span>
      </h1>
    </div>
  );
}

interface VersionProps {
  page: PackagePage;
  details: VersionDetails;
  files: Listed<PackageFileEntry>;
  versions: Listed<VersionOfPackage>;
}

/** A version: how to install it, its files, and what its publisher says of it. */
export function Version({ page, details, files, versions }: VersionProps) {
  const { ctx, pkg } = page;
  const { version } = details;
  const path = versionPath({ pkg, version });
  const { summary, dependencies } = describeMetadata(version.metadata);
  const installation = installationOf(pkg.row.type, {
    rootUrl: ctx.rootUrl,
    owner: pkg.owner.account.name,
    name: pkg.row.name,
    version: version.version,
    files: files.items.map(({ name }) => name),
  });
  return (
    <>
      <h2>
        {version.version} {version.isYanked ? <span class="label">Yanked</span> : undefined}
      </h2>
      {summary === "" ? undefined : <p class="summary-text">{summary}</p>}
      <div class="split end">
        <div>
          {installation === undefined ? undefined : (
            <section class="box" aria-labelledby="installation">
              <h2 class="box-head" id="installation">
                Installation
              </h2>
              <pre class="inside scroll" tabindex={0}>
                <code>{installation}</code>
              </pre>
            </section>
          )}
          <section class="box" aria-labelledby="files">
            <h2
              class="box-head"
              id="files"
            >{`${files.total} file${files.total === 1 ? "" : "s"}`}</h2>
            <ul class="commits">
              {files.items.map(({ id, name, sizeBytes, sha256 }) => (
                <li>
                  <div class="grow">
                    <Icon name="file" />
                    <a href={`${path}/files/${id}`} download>
                      {name}
                    </a>
                    <div class="soft">
                      SHA-256 <span class="oid">{sha256}</span>
                    </div>
                  </div>
                  <span class="soft">{formatBytes(sizeBytes)}</span>
                </li>
              ))}
            </ul>
          </section>
          {dependencies.length === 0 ? undefined : (
            <section class="box" aria-labelledby="dependencies">
              <h2 class="box-head" id="dependencies">
                Dependencies
              </h2>
              <ul class="commits">
                {dependencies.map((each) => (
                  <li>
                    <span class="grow">{each}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
        <div class="aside">
          <Facts page={page} details={details} />
          <section class="box" aria-labelledby="versions">
            <h2 class="box-head" id="versions">
              Versions
            </h2>
            <ul class="commits">
              {versions.items.map((each) => (
                <li>
                  <a
                    class="grow"
                    href={versionPath(each)}
                    aria-current={each.version.id === version.id ? "page" : undefined}
                  >
                    {each.version.version}
                  </a>
                  <span class="soft">
                    <Ago at={each.version.createdAt} now={ctx.now} />
                  </span>
                </li>
              ))}
            </ul>
            {versions.total > versions.items.length ? (
              <p class="inside more">
                <a href={`${path.slice(0, path.lastIndexOf("/"))}/versions`}>
                  {`All ${versions.total}`}
                </a>
              </p>
            ) : undefined}
          </section>
        </div>
      </div>
    </>
  );
}

function Facts({ page, details }: Pick<VersionProps, "page" | "details">) {
  const { ctx, pkg } = page;
  const { version, creator } = details;
  const { license, website, source, author, keywords } = describeMetadata(version.metadata);
  return (
    <section class="box" aria-labelledby="about">
      <h2 class="box-head" id="about">
        About
      </h2>
      <dl class="inside facts">
        <dt>Published</dt>
        <dd>
          <Ago at={version.createdAt} now={ctx.now} />
          {" by "}
          {creator ? <a href={accountPath(creator)}>{creator.name}</a> : "Ghost"}
        </dd>
        {pkg.repo ? (
          <>
            <dt>Repository</dt>
            <dd>
              <a href={repositoryPath(pkg.repo)}>{`${pkg.repo.owner.name}/${pkg.repo.row.name}`}</a>
            </dd>
          </>
        ) : undefined}
        <dt>Downloads</dt>
        <dd>{version.downloadCount}</dd>
        <Fact label="Author" text={author} />
        <Fact label="License" text={license} />
        <Fact label="Website" text={website} />
        <Fact label="Source" text={source} />
        <Fact label="Keywords" text={keywords.join(", ")} />
      </dl>
      {canChangePackage(page) ? (
        <p class="inside more">
          <a href={`${versionPath({ pkg, version })}/settings`}>Settings</a>
        </p>
      ) : undefined}
    </section>
  );
}

/** A text of the publisher; a link where it is an address of the web. */
function Fact({ label, text }: { label: string; text: string }) {
  if (text === "") return <></>;
  return (
    <>
      <dt>{label}</dt>
      <dd>
        {/^https?:\/\/\S+$/i.test(text) ? (
          <a href={text} rel="nofollow noopener">
            {text}
          </a>
        ) : (
          text
        )}
      </dd>
    </>
  );
}
