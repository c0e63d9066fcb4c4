import { PathId } from "../path-id.ts";
import { RepoPath } from "../repos/paths.ts";

export const IssuePath = RepoPath.extend({
  index: PathId.openapi({ description: "Number of the issue or pull request" }),
});
