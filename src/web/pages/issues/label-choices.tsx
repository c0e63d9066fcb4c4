import type { Label } from "../../../db/schema/index.ts";
import { exclusiveScopeOf } from "../../../domain/issues/issue/exclusive-scope.ts";
import type { Form } from "../form.ts";
import { readId } from "../read-id.ts";
import { LabelChip } from "./label.tsx";

interface LabelChoicesProps {
  labels: readonly Label[];
  isChosen: (label: Label) => boolean;
}

/**
 * Labels to choose from; of those that exclude one another, one. `readLabelIds` reads them. An
 * archived label is there as long as it is chosen.
 */
export function LabelChoices({ labels, isChosen }: LabelChoicesProps) {
  const offered = labels.filter((label) => label.archivedAt === null || isChosen(label));
  const byScope = Map.groupBy(offered, (label) => exclusiveScopeOf(label) ?? "");
  return [...byScope].map(([scope, group]) =>
    scope === "" ? (
      <fieldset>
        {group.map((label) => (
          <label class="check">
            <input
              type="checkbox"
              name={`label-${label.id}`}
              value="on"
              checked={isChosen(label)}
            />
            <LabelChip label={label} />
          </label>
        ))}
      </fieldset>
    ) : (
      <fieldset>
        <legend>{scope}</legend>
        <label class="check">
          <input type="radio" name={`scope-${scope}`} value="" checked={!group.some(isChosen)} />
          None
        </label>
        {group.map((label) => (
          <label class="check">
            <input
              type="radio"
              name={`scope-${scope}`}
              value={label.id}
              checked={isChosen(label)}
            />
            <LabelChip label={label} />
          </label>
        ))}
      </fieldset>
    ),
  );
}

/**
 * The ids of the labels that were chosen in a form.
 *
 * @throws Failure `not_found` for a value that is no id.
 */
export const readLabelIds = (form: Form): number[] => [
  ...form.namesWith("label-").map((name) => readId(name.slice("label-".length))),
  ...form
    .namesWith("scope-")
    .map((name) => form.text(name))
    .filter((id) => id !== "")
    .map(readId),
];
