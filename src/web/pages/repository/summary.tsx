import type { Revision } from "../../../domain/code/git/find-revision.ts";
import { htmlUrlOf } from "../../../shapes/urls.ts";
import { archivePath, repositoryPath } from "../addresses.ts";
import { CopyButton } from "../copy-button.tsx";
import { Count } from "../count.tsx";
import { formatBytes } from "../format-bytes.ts";
import { Icon } from "../icon.tsx";
import type { EnteredRepository } from "./enter.ts";
import { LanguageBar, type LanguageShare } from "./language-bar.tsx";
import type { Refs } from "./ref-chooser.tsx";

/** The description, website and topics of a repository, and the counts of its history. */
export function Summary({
  page: { repo },
  refs,
  commits,
  languages,
}: {
  page: EnteredRepository;
  refs: Refs;
  /** The history of the default branch. */
  commits: { path: string; count: number };
  languages: readonly LanguageShare[];
}) {
  const { row } = repo;
  const path = repositoryPath(repo);
  const isLink = /^https?:\/\//i.test(row.website);
  const counts = [
    ["commit", commits.path, commits.count, "commit"],
    ["branch", `${path}/branches`, refs.branches.total, "branch"],
    ["tag", `${path}/tags`, refs.tags.total, "tag"],
  ] as const;
  return (
    <div class="summary">
      {row.description === "" ? undefined : <p>{row.description}</p>}
      {row.website === "" ? undefined : (
        <p>
          {isLink ? (
            <a href={row.website} rel="nofollow noopener">
              {row.website}
            </a>
          ) : (
            row.website
          )}
        </p>
      )}
      {row.topics.length === 0 ? undefined : (
        <ul class="topics" aria-label="Topics">
          {row.topics.map((topic) => (
            <li>
              <a href={`/explore/repos?q=${encodeURIComponent(topic)}&topic=1`}>{topic}</a>
            </li>
          ))}
        </ul>
      )}
      <ul class="links">
        {counts.map(([icon, href, count, word]) => (
          <li>
            <a href={href}>
              <Icon name={icon} />
              <Count of={count} />
              {` ${word}${count === 1 ? "" : word === "branch" ? "es" : "s"}`}
            </a>
          </li>
        ))}
        {row.licenses.map((license) => (
          <li>{license}</li>
        ))}
        <li title="Its packs and LFS files">{formatBytes(row.sizeBytes + row.lfsSizeBytes)}</li>
      </ul>
      {languages.length > 0 ? <LanguageBar shares={languages} /> : undefined}
    </div>
  );
}

/** The archives of a revision, each with its name. */
const ARCHIVES = [
  ["zip", "ZIP"],
  ["tar.gz", "tar.gz"],
  ["bundle", "git bundle"],
] as const;

/** The address to clone a repository from, and the archives of a revision. */
export function CloneBox({
  page: { ctx, repo },
  revision,
}: {
  page: EnteredRepository;
  revision: Revision;
}) {
  const url = `${htmlUrlOf(repo, ctx)}.git`;
  return (
    <details class="menu end">
      <summary class="button primary">Clone</summary>
      <div class="menu-body">
        <label for="clone-url">Address for git</label>
        <input id="clone-url" value={url} readonly />
        <CopyButton text={url} />
        <p class="hint">
          git asks for your name and an access token as the password where it needs one.
        </p>
        <ul>
          {ARCHIVES.map(([format, label]) => (
            <li>
              <a href={archivePath(repo, revision.name, format)}>{`Download as ${label}`}</a>
            </li>
          ))}
        </ul>
      </div>
    </details>
  );
}
