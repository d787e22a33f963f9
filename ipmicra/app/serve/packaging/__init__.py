"""Files for operators: systemd units, alert rules for Prometheus, a dashboard for Grafana.

`python -m ipmicra.app.serve.packaging` prints the folder.
"""
