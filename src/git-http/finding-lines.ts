import { FINDING_RULES } from "../git/object/finding.ts";
import type { FindingSummary } from "../git/sidecar/pack-inspector.ts";
import { objectChecksUrlOf, type Root } from "../shapes/urls.ts";

/** Maximum findings that are listed to a client. */
const FINDINGS_MAX = 10;

/**
 * Formats the findings of a pushed pack for people: a line for each id of a finding, errors first,
 * and the page that explains them. "" if there is nothing to report.
 */
export function formatFindings(findings: readonly FindingSummary[], root: Root): string {
  const errors = findings.filter(({ severity }) => severity === "error");
  const reported = [...errors, ...findings.filter(({ severity }) => severity === "warn")];
  if (reported.length === 0) return "";
  const lines = reported.slice(0, FINDINGS_MAX).map(({ id, severity, kind, oid, count }) => {
    const label = severity === "error" ? "error" : "warning";
    const others = count > 1 ? ` (and ${count - 1} more)` : "";
    return `${label}: ${kind} ${oid}: ${id}: ${FINDING_RULES[id].text}${others}\n`;
  });
  const left = reported.length - lines.length;
  if (left > 0) lines.push(`and ${left} other ${left === 1 ? "finding" : "findings"}\n`);
  return `${lines.join("")}See ${objectChecksUrlOf(root)}\n`;
}

/** The reason why a pack is refused, with the page about findings if one of them is the cause. */
export function withPage(reason: string, findings: readonly FindingSummary[], root: Root): string {
  const hasError = findings.some(({ severity }) => severity === "error");
  return hasError ? `${reason}; see ${objectChecksUrlOf(root)}` : reason;
}
