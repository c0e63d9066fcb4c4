import { type NamedRevision, sourcePath } from "../addresses.ts";
import { CopyIcon } from "../copy-button.tsx";
import type { EnteredRepository } from "./enter.ts";

interface BreadcrumbsProps {
  page: EnteredRepository;
  revision: NamedRevision;
  /** Without leading or trailing slash; "" for the root, which shows nothing. */
  path: string;
}

/** The directories above a path, each with its address. */
export function Breadcrumbs({ page: { repo }, revision, path }: BreadcrumbsProps) {
  if (path === "") return <></>;
  const names = path.split("/");
  return (
    <nav class="crumbs" aria-label="Path">
      <a href={sourcePath(repo, "src", revision)}>{repo.row.name}</a>
      {names.map((name, at) => (
        <>
          /
          {at === names.length - 1 ? (
            <strong>{name}</strong>
          ) : (
            <a href={sourcePath(repo, "src", revision, names.slice(0, at + 1).join("/"))}>{name}</a>
          )}
        </>
      ))}{" "}
      <CopyIcon text={path} subject="the path" />
    </nav>
  );
}
