def mesh_deaths(): pass
def mesh_cuts(): pass
def mesh_idle(): pass
