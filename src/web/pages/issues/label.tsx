import type { Label } from "../../../db/schema/index.ts";
import { exclusiveScopeOf } from "../../../domain/issues/issue/exclusive-scope.ts";

interface LabelChipProps {
  label: Pick<Label, "name" | "color" | "description" | "isExclusive" | "archivedAt">;
  /** Where it leads, if anywhere. */
  href?: string;
}

/**
 * A label of issues: a dot of its color, and its name, in the colors of the page, so that it can be
 * read on any background and needs no inline style.
 */
export function LabelChip({ label, href }: LabelChipProps) {
  const { name, color, description, archivedAt } = label;
  const scope = exclusiveScopeOf(label) ?? "";
  const content = (
    <>
      <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="7" fill={`#${color}`} />
      </svg>
      {scope === "" ? undefined : <span class="scope">{scope}</span>}
      {name.slice(scope.length)}
      {archivedAt === null ? undefined : <span class="hidden"> (archived)</span>}
    </>
  );
  const attributes = {
    class: archivedAt === null ? "label chip" : "label chip archived",
    title: description === "" ? undefined : description,
  };
  return href === undefined ? (
    <span {...attributes}>{content}</span>
  ) : (
    <a {...attributes} href={href}>
      {content}
    </a>
  );
}
