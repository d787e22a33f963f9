"""The process beside a crawler that carries out probes. See `docs/agents.md` and `docs/security.md`."""
