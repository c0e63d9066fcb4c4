import type { MiddlewareHandler } from "hono";

import { requireNotArchived } from "../../domain/issues/issue/require-issue-access.ts";
import { requireLabelRead, requireLabelWrite } from "../../domain/repos/labels/label-owner.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

type InRepository = MiddlewareHandler<{ Variables: { repo: RepositoryContext } }>;

/** Follows the guard of a repository: admits callers who may see its labels. */
export const readsLabels: InRepository = async (c, next) => {
  requireLabelRead(c.var.repo);
  await next();
};

/** Requires write access, which nobody has in an archived repository. */
export const writesLabels: InRepository = async (c, next) => {
  requireLabelWrite(c.var.repo);
  requireNotArchived(c.var.repo);
  await next();
};
