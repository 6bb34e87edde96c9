/** The style of the page at `/documentation`: the system's own fonts and colours, light or dark. */
export const referenceStyle = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; grid-template-columns: 17rem minmax(0, 52rem); gap: 3rem; margin: 0 auto; max-width: 76rem; padding: 0 1.5rem; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 2rem 0; font-size: 0.9rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav a { text-decoration: none; }
main { padding: 2rem 0 6rem; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.25rem; margin: 3rem 0 0; }
h3 { font-size: 1rem; margin: 0; }
section { border-top: 1px solid #8884; margin-top: 1.5rem; padding-top: 1.5rem; }
code, pre { font: 0.85rem/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
pre { background: #8881; border-radius: 0.4rem; overflow: auto; padding: 0.7rem 0.9rem; }
table { border-collapse: collapse; font-size: 0.9rem; margin: 0.7rem 0; width: 100%; }
th, td { border-bottom: 1px solid #8883; padding: 0.3rem 0.8rem 0.3rem 0; text-align: left; vertical-align: top; }
summary { cursor: pointer; }
:target { scroll-margin-top: 1rem; }
@media (max-width: 52rem) { body { display: block; } nav { position: static; max-height: none; } }
`;
