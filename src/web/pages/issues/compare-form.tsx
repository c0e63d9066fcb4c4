import type { ComparisonText } from "../../../domain/code/commits/compare-revisions.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { comparePath, repositoryPath } from "../addresses.ts";
import type { EnteredRepository } from "../repository/enter.ts";
import type { Refs } from "../repository/ref-chooser.tsx";

interface CompareFormProps {
  page: EnteredRepository;
  text: ComparisonText;
  headRepository: RepositoryContext;
  /** What the fields offer; undefined where it is not known. */
  baseRefs: Refs | undefined;
  headRefs: Refs | undefined;
}

/** The form that chooses what is compared. */
export function CompareForm(props: CompareFormProps) {
  const { page, text, headRepository, baseRefs, headRefs } = props;
  const { repo, facts } = page;
  const head = headNameOf(text);
  const isFork = headRepository.row.id !== repo.row.id;
  const beginning = isFork ? `${headRepository.owner.name}/${headRepository.row.name}:` : "";
  return (
    <form class="compare" action={`${repositoryPath(repo)}/compare`}>
      <div>
        <label for="compare-base">Base</label>
        <input id="compare-base" name="base" value={text.base ?? ""} list="compare-bases" />
        <Names id="compare-bases" refs={baseRefs} beginning="" />
      </div>
      <div>
        <label for="compare-head">Head</label>
        <input
          id="compare-head"
          name="head"
          value={head}
          list="compare-heads"
          aria-describedby="compare-hint"
        />
        <Names id="compare-heads" refs={headRefs} beginning={beginning} />
      </div>
      <label class="check">
        <input type="checkbox" name="direct" checked={text.isDirect} />
        Files of both, not since their common commit
      </label>
      <button type="submit">Compare</button>
      <p class="hint" id="compare-hint">
        {"Branches, tags or commits; of a fork as owner:branch. "}
        {headRefs ? (
          <a href={invert(repo, headRepository, text)}>The other way around</a>
        ) : undefined}
        {facts.parent && headRefs && !isFork ? (
          <>
            {", or "}
            <a
              href={comparePath(
                facts.parent,
                facts.parent.row.defaultBranch,
                `${repo.owner.name}/${repo.row.name}:${text.head}`,
              )}
            >
              {`with ${facts.parent.owner.name}/${facts.parent.row.name}`}
            </a>
          </>
        ) : undefined}
      </p>
    </form>
  );
}

/** The path of a comparison of the head with the base. */
export function invert(
  repo: RepositoryContext,
  headRepository: RepositoryContext,
  { base = "", head, isDirect }: ComparisonText,
): string {
  const isFork = headRepository.row.id !== repo.row.id;
  const name = isFork ? `${repo.owner.name}/${repo.row.name}:${base}` : base;
  return comparePath(headRepository, head, name, isDirect ? ".." : "...");
}

/** The head as an address names it: `owner/name:branch`. */
export function headNameOf({ head, headOwner, headRepo }: ComparisonText): string {
  if (headOwner === undefined) return head;
  return `${headOwner}${headRepo === undefined ? "" : `/${headRepo}`}:${head}`;
}

function Names({ id, refs, beginning }: { id: string; refs: Refs | undefined; beginning: string }) {
  if (!refs) return <></>;
  return (
    <datalist id={id}>
      {[...refs.branches.names, ...refs.tags.names].map((name) => (
        <option value={beginning + name} />
      ))}
    </datalist>
  );
}
