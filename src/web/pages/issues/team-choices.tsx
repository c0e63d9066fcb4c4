import type { Team } from "../../../db/schema/index.ts";
import type { Form } from "../form.ts";
import { Field } from "../layout.tsx";
import { TITLE_CHARS_MAX } from "../text-field.tsx";
import { readUsers } from "./properties.tsx";

/** The beginning of the names of the checkboxes. */
export const TEAM = "team-";

/** The field for a team that is not listed. */
const OTHER = "other_team";

interface TeamChoicesProps {
  teams: readonly Team[];
  /** Whether there are teams that are not listed. */
  hasMore: boolean;
  /** Whether a checkbox is set, by its name. */
  isChosen: (name: string) => boolean;
}

/** Teams to choose from, as reviewers. */
export function TeamChoices({ teams, hasMore, isChosen }: TeamChoicesProps) {
  if (teams.length === 0 && !hasMore) return <></>;
  return (
    <fieldset>
      <legend>Teams</legend>
      {teams.map(({ name }) => (
        <label class="check">
          <input type="checkbox" name={TEAM + name} value="on" checked={isChosen(TEAM + name)} />
          {name}
        </label>
      ))}
      {hasMore ? (
        <Field label="Another team" name={OTHER} maxlength={TITLE_CHARS_MAX} isOptional />
      ) : undefined}
    </fieldset>
  );
}

/** The names of the teams that were chosen by `TeamChoices`. */
export const readTeams = (form: Form): string[] => readUsers(form, TEAM, OTHER);
