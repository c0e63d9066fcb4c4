import type { MatchedNames } from "../../../domain/code/protections/match-refs.ts";

/** Names that are shown of those that a rule matches. */
const SHOWN_MAX = 20;

interface MatchedProps {
  matched: MatchedNames;
  /** Of the rule. */
  id: number;
  kind: "branch" | "tag";
}

/** What a rule is about now. */
export function Matched({ matched: { byRule, isWhole }, id, kind }: MatchedProps) {
  const names = byRule.get(id) ?? [];
  const plural = kind === "branch" ? "branches" : "tags";
  return (
    <div class="soft">
      {names.length === 0 ? (
        `Matches no ${kind} now`
      ) : (
        <>
          {"Matches now: "}
          {names.slice(0, SHOWN_MAX).map((name, at) => (
            <>
              {at === 0 ? "" : ", "}
              <code>{name}</code>
            </>
          ))}
          {names.length > SHOWN_MAX ? ` and ${names.length - SHOWN_MAX} more` : ""}
        </>
      )}
      {isWhole ? "" : `. There are more ${plural} than were compared`}
    </div>
  );
}
