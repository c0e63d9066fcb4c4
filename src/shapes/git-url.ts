import type { ObjectKind } from "../git/object/kind.ts";
import type { Oid } from "../git/oid.ts";
import type { RepositoryEntry } from "./repository.ts";
import type { Viewer } from "./viewer.ts";

type Where = Pick<RepositoryEntry, "repo" | "owner">;

/** Where the API tells of a repository. */
export const apiUrlOf = ({ repo, owner }: Where, { rootUrl }: Viewer): string =>
  `${rootUrl}/api/v1/repos/${owner.name}/${repo.name}`;

/** Where the API tells of one of its objects. */
export const objectUrl = (where: Where, kind: ObjectKind, oid: Oid, viewer: Viewer): string =>
  `${apiUrlOf(where, viewer)}/git/${kind}s/${oid}`;

/** A path as a part of an address. */
export const encodePath = (path: string): string =>
  path.split("/").map(encodeURIComponent).join("/");
