import { type SQL, sql } from "drizzle-orm";

import { isRepositoryAllowed } from "../../auth/access/visible-repositories.ts";
import type { PrincipalSql } from "../../auth/principal.ts";
import { issues } from "../../db/schema/index.ts";

/** The condition, on the issues and repositories of a query, that the caller may see the issue. */
export const isIssueAllowed = (principal: PrincipalSql): SQL => sql`case
  when ${issues.isPull} then ${isRepositoryAllowed(principal, { unit: "pulls", mode: "read" })}
  else ${isRepositoryAllowed(principal, { unit: "issues", mode: "read" })}
end`;
