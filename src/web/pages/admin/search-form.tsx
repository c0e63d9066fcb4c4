import type { Child } from "hono/jsx";

interface SearchFormProps {
  path: string;
  label: string;
  text: string;
  /** Further fields. */
  children?: Child;
}

/** A search in a list of the administration. */
export const SearchForm = ({ path, label, text, children }: SearchFormProps) => (
  <form class="filters" action={path}>
    <input type="search" name="q" aria-label={label} placeholder={label} value={text} />
    {children}
    <button type="submit">Search</button>
  </form>
);
